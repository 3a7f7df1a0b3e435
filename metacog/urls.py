"""Every address of the site."""

from django.contrib import admin
from django.urls import path
from django.views.generic import RedirectView

from metacog.http import health
from metacog.http.api import api
from metacog.pages import account, agents, audit, notices, team, tokens
from patterns.api.patterns import router as patterns_router
from patterns.api.threads import router as threads_router
from reviews.api.investigations import router as extension_router
from reviews.api.memory import router as memory_router
from reviews.api.research import router as research_router
from reviews.api.responses import router as reviews_router
from reviews.api.review import router as review_router
from reviews.metrics import prometheus
from reviews.pages import (
    bulk,
    call_desk,
    context,
    decide_by_mail,
    extensions,
    policy,
    queue,
    response,
    search,
    stuck,
    threads,
)
from reviews.pages.knowledge import lessons, memory, patterns, reflections, research
from reviews.pages.metrics import corrections, learned_risk, review_time, samples, statistics
from reviews.pages.outbox import deliveries, webhooks

api.add_router("", reviews_router, tags=["responses and decisions"])
api.add_router("", patterns_router, tags=["patterns and problems"])
api.add_router("", threads_router, tags=["thought threads"])
api.add_router("", memory_router, tags=["shared memory"])
api.add_router("", extension_router, tags=["extended investigation"])
api.add_router("", research_router, tags=["research"])
api.add_router("", review_router, tags=["deciding as a person"])

urlpatterns = [
    path("api/v1/", api.urls),  # first, since addresses are tried in order and agents post all the time
    path("", RedirectView.as_view(pattern_name="queue"), name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", prometheus.metrics, name="metrics"),
    # reviewers
    path("queue/", queue.queue, name="queue"),
    path("queue/changes", queue.changes, name="queue-changes"),
    path("queue/together/", bulk.together, name="together"),
    path("queue/together/decide", bulk.decide_together, name="decide-together"),
    path("queue/<str:held_id>/", queue.item, name="item"),
    path("queue/<str:held_id>/decide", queue.decide, name="decide"),
    path("queue/<str:held_id>/score", queue.score_edit, name="score-edit"),
    path("queue/<str:held_id>/reveal", call_desk.reveal, name="reveal"),
    path("queue/<str:held_id>/by-mail/<str:token>", decide_by_mail.by_mail, name="by-mail"),
    path("queue/<str:held_id>/by-mail/<str:token>/undo", decide_by_mail.undo_by_mail, name="by-mail-undo"),
    path("grants/<str:grant_id>/withdraw", call_desk.withdraw_grant, name="grant-withdraw"),
    path("decisions/<str:decision_id>/undo", queue.undo, name="undo"),
    path("let-through/", samples.let_through, name="let-through"),
    path("let-through/<str:sample_id>/judge", samples.judge, name="sample-judge"),
    path("corrections/", corrections.correction_list, name="corrections"),
    path("corrections/<str:correction_id>/answer", corrections.correction_answer, name="correction-answer"),
    path("responses/", response.responses, name="responses"),
    path("responses/export/", response.export_responses, name="responses-export"),
    path("responses/<str:response_id>/", response.response, name="response"),
    path("search/", search.search_page, name="search"),
    path("search/export/", search.search_export, name="search-export"),
    path("stuck/", stuck.stuck, name="stuck"),
    path("stuck/<str:problem_id>/", stuck.problem, name="problem"),
    path("stuck/<str:problem_id>/answer", stuck.problem_answer, name="problem-answer"),
    path("stuck/<str:problem_id>/outcome", stuck.problem_outcome, name="problem-outcome"),
    path("stuck/<str:problem_id>/resolve", stuck.problem_resolve, name="problem-resolve"),
    path("threads/", threads.threads, name="threads"),
    path("threads/<str:thread_id>/", threads.thread, name="thread"),
    path("threads/<str:thread_id>/step", threads.thread_step, name="thread-step"),
    path("threads/<str:thread_id>/markdown", threads.thread_markdown, name="thread-markdown"),
    path("agents/<str:agent_id>/threads", threads.thread_new, name="thread-new"),
    path("extensions/", extensions.extension_list, name="extensions"),
    path("extensions/<str:extension_id>/", extensions.extension, name="extension"),
    path("extensions/<str:extension_id>/answer", extensions.extension_answer, name="extension-answer"),
    path("memory/", memory.memory_list, name="memories"),
    path("memory/new", memory.memory_new, name="memory-new"),
    path("memory/conflicts/<int:conflict_id>", memory.memory_settle, name="memory-settle"),
    path("memory/<str:memory_id>/", memory.memory_detail, name="memory"),
    path("memory/<str:memory_id>/step", memory.memory_step, name="memory-step"),
    path("memory/<str:memory_id>/edit", memory.memory_edit, name="memory-edit"),
    path("lessons/", lessons.lesson_list, name="lessons"),
    path("lessons/new", lessons.lesson_new, name="lesson-new"),
    path("lessons/many", lessons.lessons_many, name="lessons-many"),
    path("lessons/<str:lesson_id>/", lessons.lesson, name="lesson"),
    path("lessons/<str:lesson_id>/step", lessons.lesson_step, name="lesson-step"),
    path("reflections/", reflections.reflection_list, name="reflections"),
    path("reflections/<str:reflection_id>/", reflections.reflection, name="reflection"),
    path("research/", research.research_list, name="research-list"),
    path("research/<str:research_id>/", research.research, name="research"),
    path("agents/<str:agent_id>/reflect", reflections.reflect_now, name="reflect-now"),
    path("patterns/", patterns.patterns, name="patterns"),
    path("patterns/new", patterns.pattern_new, name="pattern-new"),
    path("patterns/decide", patterns.patterns_decide, name="patterns-decide"),
    path("patterns/<int:pattern_id>/", patterns.pattern, name="pattern"),
    path("patterns/<int:pattern_id>/step", patterns.pattern_step, name="pattern-step"),
    path("patterns/<int:pattern_id>/edit", patterns.pattern_edit, name="pattern-edit"),
    path("statistics/", statistics.statistics, name="statistics"),
    path("statistics/pace/", review_time.show, name="pace"),
    path("statistics/risk/", learned_risk.show, name="learned-risk"),
    path("statistics/risk/<int:team_id>/", learned_risk.choose, name="learned-risk-choose"),
    path("statistics/risk.csv", learned_risk.as_csv, name="learned-risk-csv"),
    path("statistics.csv", statistics.as_csv, name="statistics-csv"),
    path("deliveries/", deliveries.delivery_list, name="deliveries"),
    path("deliveries/<str:delivery_id>/replay", deliveries.replay, name="delivery-replay"),
    # people, teams, agents
    path("sign-in/", account.sign_in, name="sign-in"),
    path("sign-out/", account.sign_out, name="sign-out"),
    path("welcome/<uidb64>/<token>/", account.set_password, name="set-password"),
    path("preferences/", account.preferences, name="preferences"),
    path("preferences/notices", notices.notices_change, name="notices-change"),
    path("preferences/notices/test", notices.notices_test, name="notices-test"),
    path("preferences/tokens", tokens.token_new, name="token-new"),
    path("preferences/tokens/<int:token_id>/revoke", tokens.token_revoke, name="token-revoke"),
    path("notices/stop/<str:token>", notices.notices_stop, name="notices-stop"),
    path("theme", account.set_theme, name="set-theme"),
    path("language/", account.set_language, name="set_language"),
    path("agents/", agents.agent_list, name="agents"),
    path("agents/new", agents.agent_new, name="agent-new"),
    path("agents/<str:agent_id>/", agents.agent, name="agent"),
    path("agents/<str:agent_id>/policy/", policy.policy, name="policy"),
    path("agents/<str:agent_id>/context/", context.context, name="agent-context"),
    path("agents/<str:agent_id>/handcard", agents.agent_handcard, name="agent-handcard"),
    path("agents/<str:agent_id>/rotate", agents.agent_rotate, name="agent-rotate"),
    path("agents/<str:agent_id>/revoke", agents.agent_revoke, name="agent-revoke"),
    path("agents/<str:agent_id>/switch", agents.agent_switch, name="agent-switch"),
    path("agents/<str:agent_id>/endpoint-on", deliveries.endpoint_on, name="endpoint-on"),
    path("team/", team.team, name="team"),
    path("team/<int:team_id>/members", team.member_add, name="member-add"),
    path("team/<int:team_id>/retention", team.team_retention, name="team-retention"),
    path("team/<int:team_id>/notices", team.team_notices, name="team-notices"),
    path("team/<int:team_id>/names", team.team_names, name="team-names"),
    path("team/<int:team_id>/tokens/<int:token_id>/revoke", team.member_token_revoke, name="member-token-revoke"),
    path("team/<int:team_id>/chat", team.team_channel, name="team-channel"),
    path("team/<int:team_id>/chat/test", team.channel_test, name="channel-test"),
    path("team/<int:team_id>/chat/remove", team.channel_remove, name="channel-remove"),
    path("team/members/<int:membership_id>/role", team.member_change, name="member-change"),
    path("team/members/<int:membership_id>/remove", team.member_remove, name="member-remove"),
    path("team/members/<int:membership_id>/link", team.member_link, name="member-link"),
    path("team/<int:team_id>/webhooks/new", webhooks.webhook_new, name="webhook-new"),
    path("team/webhooks/<str:webhook_id>/", webhooks.webhook, name="webhook"),
    path("team/webhooks/<str:webhook_id>/step", webhooks.webhook_step, name="webhook-step"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export", audit.export, name="audit-export"),
    path("admin/", admin.site.urls),
]
