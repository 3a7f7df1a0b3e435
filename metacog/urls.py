"""Every address of the site."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from metacog import agent_views, audit_views, health, notice_views, team_views, views
from metacog.api import api
from patterns.api import router as patterns_router
from patterns.thread_api import router as threads_router
from reviews import (
    by_mail_views,
    context_views,
    delivery_views,
    extension_views,
    lesson_views,
    memory_views,
    metrics,
    pace_views,
    pattern_views,
    policy_views,
    reflection_views,
    research_views,
    response_views,
    sample_views,
    search_views,
    statistics_views,
    stuck_views,
    thread_views,
    together_views,
)
from reviews import views as reviews_views
from reviews.api import router as reviews_router
from reviews.extension_api import router as extension_router
from reviews.memory_api import router as memory_router
from reviews.research_api import router as research_router

api.add_router("", reviews_router, tags=["responses and decisions"])
api.add_router("", patterns_router, tags=["patterns and problems"])
api.add_router("", threads_router, tags=["thought threads"])
api.add_router("", memory_router, tags=["shared memory"])
api.add_router("", extension_router, tags=["extended investigation"])
api.add_router("", research_router, tags=["research"])

urlpatterns = [
    path("api/v1/", api.urls),  # first, since addresses are tried in order and agents post all the time
    path("", RedirectView.as_view(pattern_name="queue"), name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", metrics.metrics, name="metrics"),
    # reviewers
    path("queue/", reviews_views.queue, name="queue"),
    path("queue/changes", reviews_views.changes, name="queue-changes"),
    path("queue/together/", together_views.together, name="together"),
    path("queue/together/decide", together_views.decide_together, name="decide-together"),
    path("queue/<str:held_id>/", reviews_views.item, name="item"),
    path("queue/<str:held_id>/decide", reviews_views.decide, name="decide"),
    path("queue/<str:held_id>/score", reviews_views.score_edit, name="score-edit"),
    path("queue/<str:held_id>/by-mail/<str:token>", by_mail_views.by_mail, name="by-mail"),
    path("queue/<str:held_id>/by-mail/<str:token>/undo", by_mail_views.undo_by_mail, name="by-mail-undo"),
    path("decisions/<str:decision_id>/undo", reviews_views.undo, name="undo"),
    path("let-through/", sample_views.let_through, name="let-through"),
    path("let-through/<str:sample_id>/judge", sample_views.judge, name="sample-judge"),
    path("responses/", response_views.responses, name="responses"),
    path("responses/<str:response_id>/", response_views.response, name="response"),
    path("search/", search_views.search_page, name="search"),
    path("stuck/", stuck_views.stuck, name="stuck"),
    path("stuck/<str:problem_id>/", stuck_views.problem, name="problem"),
    path("stuck/<str:problem_id>/answer", stuck_views.problem_answer, name="problem-answer"),
    path("stuck/<str:problem_id>/outcome", stuck_views.problem_outcome, name="problem-outcome"),
    path("stuck/<str:problem_id>/resolve", stuck_views.problem_resolve, name="problem-resolve"),
    path("threads/", thread_views.threads, name="threads"),
    path("threads/<str:thread_id>/", thread_views.thread, name="thread"),
    path("threads/<str:thread_id>/step", thread_views.thread_step, name="thread-step"),
    path("threads/<str:thread_id>/markdown", thread_views.thread_markdown, name="thread-markdown"),
    path("agents/<str:agent_id>/threads", thread_views.thread_new, name="thread-new"),
    path("extensions/", extension_views.extension_list, name="extensions"),
    path("extensions/<str:extension_id>/", extension_views.extension, name="extension"),
    path("extensions/<str:extension_id>/answer", extension_views.extension_answer, name="extension-answer"),
    path("memory/", memory_views.memory_list, name="memories"),
    path("memory/new", memory_views.memory_new, name="memory-new"),
    path("memory/conflicts/<int:conflict_id>", memory_views.memory_settle, name="memory-settle"),
    path("memory/<str:memory_id>/", memory_views.memory, name="memory"),
    path("memory/<str:memory_id>/step", memory_views.memory_step, name="memory-step"),
    path("memory/<str:memory_id>/edit", memory_views.memory_edit, name="memory-edit"),
    path("lessons/", lesson_views.lessons, name="lessons"),
    path("lessons/new", lesson_views.lesson_new, name="lesson-new"),
    path("lessons/many", lesson_views.lessons_many, name="lessons-many"),
    path("lessons/<str:lesson_id>/", lesson_views.lesson, name="lesson"),
    path("lessons/<str:lesson_id>/step", lesson_views.lesson_step, name="lesson-step"),
    path("reflections/", reflection_views.reflections, name="reflections"),
    path("reflections/<str:reflection_id>/", reflection_views.reflection, name="reflection"),
    path("research/", research_views.research_list, name="research-list"),
    path("research/<str:research_id>/", research_views.research, name="research"),
    path("agents/<str:agent_id>/reflect", reflection_views.reflect_now, name="reflect-now"),
    path("patterns/", pattern_views.patterns, name="patterns"),
    path("patterns/new", pattern_views.pattern_new, name="pattern-new"),
    path("patterns/decide", pattern_views.patterns_decide, name="patterns-decide"),
    path("patterns/<int:pattern_id>/", pattern_views.pattern, name="pattern"),
    path("patterns/<int:pattern_id>/step", pattern_views.pattern_step, name="pattern-step"),
    path("patterns/<int:pattern_id>/edit", pattern_views.pattern_edit, name="pattern-edit"),
    path("statistics/", statistics_views.statistics, name="statistics"),
    path("statistics/pace/", pace_views.show, name="pace"),
    path("statistics.csv", statistics_views.as_csv, name="statistics-csv"),
    path("deliveries/", delivery_views.deliveries, name="deliveries"),
    path("deliveries/<str:delivery_id>/replay", delivery_views.replay, name="delivery-replay"),
    # people, teams, agents
    path("sign-in/", views.sign_in, name="sign-in"),
    path("sign-out/", views.sign_out, name="sign-out"),
    path("welcome/<uidb64>/<token>/", views.set_password, name="set-password"),
    path("preferences/", views.preferences, name="preferences"),
    path("preferences/notices", notice_views.notices_change, name="notices-change"),
    path("preferences/notices/test", notice_views.notices_test, name="notices-test"),
    path("notices/stop/<str:token>", notice_views.notices_stop, name="notices-stop"),
    path("theme", views.set_theme, name="set-theme"),
    path("language/", views.set_language, name="set_language"),
    path("agents/", agent_views.agents, name="agents"),
    path("agents/new", agent_views.agent_new, name="agent-new"),
    path("agents/<str:agent_id>/", agent_views.agent, name="agent"),
    path("agents/<str:agent_id>/policy/", policy_views.policy, name="policy"),
    path("agents/<str:agent_id>/context/", context_views.context, name="agent-context"),
    path("agents/<str:agent_id>/handcard", agent_views.agent_handcard, name="agent-handcard"),
    path("agents/<str:agent_id>/rotate", agent_views.agent_rotate, name="agent-rotate"),
    path("agents/<str:agent_id>/revoke", agent_views.agent_revoke, name="agent-revoke"),
    path("agents/<str:agent_id>/switch", agent_views.agent_switch, name="agent-switch"),
    path("agents/<str:agent_id>/endpoint-on", delivery_views.endpoint_on, name="endpoint-on"),
    path("team/", team_views.team, name="team"),
    path("team/<int:team_id>/members", team_views.member_add, name="member-add"),
    path("team/<int:team_id>/retention", team_views.team_retention, name="team-retention"),
    path("team/<int:team_id>/notices", team_views.team_notices, name="team-notices"),
    path("team/<int:team_id>/chat", team_views.team_channel, name="team-channel"),
    path("team/<int:team_id>/chat/test", team_views.channel_test, name="channel-test"),
    path("team/<int:team_id>/chat/remove", team_views.channel_remove, name="channel-remove"),
    path("team/members/<int:membership_id>/role", team_views.member_change, name="member-change"),
    path("team/members/<int:membership_id>/remove", team_views.member_remove, name="member-remove"),
    path("team/members/<int:membership_id>/link", team_views.member_link, name="member-link"),
    path("audit/", audit_views.audit, name="audit"),
    path("audit/export", audit_views.export, name="audit-export"),
    path("admin/", admin.site.urls),
]
