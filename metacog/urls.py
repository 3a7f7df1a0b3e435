"""Every address of the site."""

from collections.abc import Callable

from django.contrib import admin
from django.http.response import HttpResponseBase
from django.urls import path
from django.views.generic import RedirectView

from metacog.http import health
from metacog.http.api import api
from metacog.pages import account, agents, audit, notices, security, tokens, worker
from metacog.pages.phone import app, devices
from metacog.pages.sign_in_addresses import sign_in_addresses
from metacog.pages.teams import page as team
from metacog.pages.teams import people
from metacog.pages.teams import settings as team_settings
from patterns.api.patterns import router as patterns_router
from patterns.api.threads import router as threads_router
from reviews.api.grants import router as grants_router
from reviews.api.guard import router as guard_router
from reviews.api.investigations import router as extension_router
from reviews.api.memory import router as memory_router
from reviews.api.research import router as research_router
from reviews.api.responses import router as reviews_router
from reviews.api.review import router as review_router
from reviews.api.talk import router as talk_router
from reviews.metrics import prometheus
from reviews.pages import (
    bulk,
    context,
    decide_by_mail,
    extensions,
    policy,
    queue,
    response,
    search,
    stuck,
    talk,
    threads,
)
from reviews.pages.agents import first_hour
from reviews.pages.asking import settings as asking
from reviews.pages.calls import grants, team_rules
from reviews.pages.chats import connecting, incoming
from reviews.pages.chats import settings as chats
from reviews.pages.knowledge import (
    exchange,
    lessons,
    memory,
    pattern_by_id,
    pattern_merge,
    patterns,
    reflections,
    research,
    to_do,
)
from reviews.pages.logs import imports as log_imports
from reviews.pages.metrics import corrections, learned_risk, review_time, spot_checks, statistics, weekly
from reviews.pages.outbox import deliveries, webhooks
from reviews.pages.queue_list import export as queue_export
from reviews.pages.queue_list import my_day, ranks
from reviews.pages.queue_list import views as saved_views
from reviews.pages.sessions import day, session

api.add_router("", reviews_router, tags=["responses and decisions"])
api.add_router("", guard_router, tags=["gateways"])
api.add_router("", patterns_router, tags=["patterns and problems"])
api.add_router("", threads_router, tags=["thought threads"])
api.add_router("", memory_router, tags=["shared memory"])
api.add_router("", extension_router, tags=["extended investigation"])
api.add_router("", research_router, tags=["research"])
api.add_router("", review_router, tags=["deciding as a person"])
api.add_router("", talk_router, tags=["deciding as a person"])
api.add_router("", grants_router, tags=["deciding as a person"])


def _moved(name: str) -> Callable[..., HttpResponseBase]:
    return RedirectView.as_view(pattern_name=name, permanent=True, query_string=True)


urlpatterns = [
    path("api/v1/", api.urls),  # first, since addresses are tried in order and agents post all the time
    path("", RedirectView.as_view(pattern_name="queue"), name="home"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("metrics", prometheus.metrics, name="metrics"),
    # reviewers
    path("queue/", queue.queue, name="queue"),
    path("to-do/", to_do.to_do, name="to-do"),
    path("to-do/suggestions/<str:agent_id>/dismiss", to_do.suggestion_dismiss, name="suggestion-dismiss"),
    path("to-do/signals/<int:team_id>/off", to_do.signals_off, name="signals-off"),
    path("to-do/patterns/<int:pattern_id>/retire", to_do.pattern_retire, name="pattern-retire"),
    path("to-do/drafts/<str:thread_id>/done", to_do.draft_done, name="draft-done"),
    path("import/<str:import_kind>/", exchange.knowledge_import, name="knowledge-import"),
    path("queue/changes", queue.changes, name="queue-changes"),
    path("queue/export", queue_export.export, name="queue-export"),
    path("queue/my-day/", my_day.show, name="my-day"),
    path("queue/views/", saved_views.save, name="view-save"),
    path("queue/views/<int:view_id>/rename", saved_views.rename, name="view-rename"),
    path("queue/views/<int:view_id>/delete", saved_views.delete, name="view-delete"),
    path("queue/together/", bulk.together, name="together"),
    path("queue/together/decide", bulk.decide_together, name="decide-together"),
    path("queue/<str:held_id>/", queue.item, name="item"),
    path("queue/<str:held_id>/why", ranks.why_first, name="item-why"),
    path("queue/<str:held_id>/next", queue.following, name="item-next"),
    path("queue/<str:held_id>/decide", queue.decide, name="decide"),
    path("queue/<str:held_id>/score", queue.score_edit, name="score-edit"),
    path("queue/<str:held_id>/comments", talk.comment, name="comment"),
    path("queue/<str:held_id>/comments/<str:comment_id>/delete", talk.comment_delete, name="comment-delete"),
    path("queue/<str:held_id>/assign", talk.assign, name="assign"),
    path("queue/<str:held_id>/snooze", talk.snooze, name="snooze"),
    path("queue/<str:held_id>/reveal", queue.reveal, name="reveal"),
    path("queue/<str:held_id>/grant-waiting", grants.waiting, name="grant-waiting"),
    path("queue/<str:held_id>/by-mail/<str:token>", decide_by_mail.by_mail, name="by-mail"),
    path("queue/<str:held_id>/by-mail/<str:token>/undo", decide_by_mail.undo_by_mail, name="by-mail-undo"),
    path("grants/", grants.grant_list, name="grants"),
    path("grants/<str:grant_id>/withdraw", grants.withdraw, name="grant-withdraw"),
    path("grants/<str:grant_id>/restore", grants.restore, name="grant-restore"),
    path("decisions/<str:decision_id>/undo", queue.undo, name="undo"),
    path("approvals/<str:approval_id>/withdraw", queue.withdraw_approval, name="approval-withdraw"),
    path("spot-checks/", spot_checks.show, name="spot-checks"),
    path("spot-checks.<slug:form>", spot_checks.data, name="spot-checks-data"),
    path("spot-checks/<str:sample_id>/judge", spot_checks.judge, name="sample-judge"),
    path("corrections.<slug:form>", corrections.data, name="corrections-data"),
    path("corrections/", corrections.correction_list, name="corrections"),
    path("corrections/<str:correction_id>/answer", corrections.correction_answer, name="correction-answer"),
    path("responses/", response.responses, name="responses"),
    path("responses/export/", response.export_responses, name="responses-export"),
    path("responses/<str:response_id>/", response.response, name="response"),
    path("sessions/<str:agent_id>/", session.show, name="session"),
    path("sessions/<str:agent_id>/changes", session.changes, name="session-changes"),
    path("sessions/<str:agent_id>/export", session.export, name="session-export"),
    path("search/", search.search_page, name="search"),
    path("palette", search.palette, name="palette"),
    path("search/export/", search.search_export, name="search-export"),
    path("stuck/", stuck.stuck, name="stuck"),
    path("stuck/<str:problem_id>/", stuck.problem, name="problem"),
    path("stuck/<str:problem_id>/answer", stuck.problem_answer, name="problem-answer"),
    path("stuck/<str:problem_id>/outcome", stuck.problem_outcome, name="problem-outcome"),
    path("stuck/<str:problem_id>/resolve", stuck.problem_resolve, name="problem-resolve"),
    path("threads/", threads.threads, name="threads"),
    path("threads/export", exchange.threads_export, name="threads-export"),
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
    path("lessons/export", exchange.lessons_export, name="lessons-export"),
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
    path("patterns/export", exchange.patterns_export, name="patterns-export"),
    path("patterns/new", patterns.pattern_new, name="pattern-new"),
    path("patterns/decide", patterns.patterns_decide, name="patterns-decide"),
    path("patterns/merge/", pattern_merge.merge, name="patterns-merge"),
    path("patterns/apart", patterns.patterns_apart, name="patterns-apart"),
    path("patterns/by-id/<int:team_id>/<str:public_id>", pattern_by_id.show, name="pattern-by-id"),
    path("patterns/<int:pattern_id>/", patterns.pattern, name="pattern"),
    path("patterns/<int:pattern_id>/apart", patterns.pattern_apart, name="pattern-apart"),
    path("patterns/<int:pattern_id>/step", patterns.pattern_step, name="pattern-step"),
    path("patterns/<int:pattern_id>/edit", patterns.pattern_edit, name="pattern-edit"),
    path("statistics/", statistics.statistics, name="statistics"),
    path("statistics/weekly/", weekly.show, name="weekly-report"),
    path("statistics/weekly/send", weekly.send, name="weekly-report-send"),
    path("statistics/review-time/", review_time.show, name="review-time"),
    path("statistics/review-time.<slug:form>", review_time.data, name="review-time-data"),
    path("statistics/risk/", learned_risk.show, name="learned-risk"),
    path("statistics/risk/<int:team_id>/", learned_risk.choose, name="learned-risk-choose"),
    path("statistics/risk.<slug:form>", learned_risk.data, name="learned-risk-data"),
    path("statistics/data/<slug:name>.<slug:form>", statistics.data, name="statistics-data"),
    path("statistics.csv", statistics.as_csv, name="statistics-csv"),
    path("log-imports/", log_imports.log_imports, name="log-imports"),
    path("log-imports/<str:log_id>/", log_imports.log_import, name="log-import"),
    path("log-imports/<str:log_id>/items/<int:number>/", log_imports.log_item, name="log-item"),
    path("log-imports/<str:log_id>/delete", log_imports.log_delete, name="log-delete"),
    path("deliveries/", deliveries.delivery_list, name="deliveries"),
    path("deliveries/<str:delivery_id>/replay", deliveries.replay, name="delivery-replay"),
    # people, teams, agents
    path("sign-in/", account.sign_in, name="sign-in"),
    *sign_in_addresses(),
    path("sign-out/", account.sign_out, name="sign-out"),
    path("welcome/<uidb64>/<token>/", account.set_password, name="set-password"),
    path("preferences/", account.preferences, name="preferences"),
    path("preferences/security/", security.security, name="security"),
    path("preferences/security/sessions/end", security.sessions_end, name="sessions-end"),
    path("preferences/notices", notices.notices_change, name="notices-change"),
    path("preferences/notices/test", notices.notices_test, name="notices-test"),
    path("preferences/notices/push", devices.push_change, name="push-change"),
    path("preferences/devices", devices.device_add, name="device-add"),
    path("preferences/devices/<str:device_id>/test", devices.device_test, name="device-test"),
    path("preferences/devices/<str:device_id>/withdraw", devices.device_withdraw, name="device-withdraw"),
    path("notices/closed/<str:token>", devices.device_closed, name="device-closed"),
    path("manifest.webmanifest", app.manifest, name="manifest"),
    path("service-worker.js", app.service_worker, name="service-worker"),
    path("offline/", app.offline, name="offline"),
    path("worker/", worker.worker, name="worker"),
    path("worker/state", worker.worker_state, name="worker-state"),
    path("preferences/tokens", tokens.token_new, name="token-new"),
    path("preferences/tokens/<int:token_id>/revoke", tokens.token_revoke, name="token-revoke"),
    path("preferences/tokens/<int:token_id>/restore", tokens.token_restore, name="token-restore"),
    path("notices/stop/<str:token>", notices.notices_stop, name="notices-stop"),
    path("theme", account.set_theme, name="set-theme"),
    path("language/", account.set_language, name="set_language"),
    path("agents/", agents.agent_list, name="agents"),
    path("agents/new", agents.agent_new, name="agent-new"),
    path("agents/<str:agent_id>/", agents.agent, name="agent"),
    path("agents/<str:agent_id>/policy/", policy.policy, name="policy"),
    path("agents/<str:agent_id>/pack", agents.agent_pack, name="agent-pack"),
    path("agents/<str:agent_id>/context/", context.context, name="agent-context"),
    path("agents/<str:agent_id>/first-hour", first_hour.first_hour, name="agent-first-hour"),
    path("agents/<str:agent_id>/day/", day.show, name="agent-day"),
    path("agents/<str:agent_id>/handcard", agents.agent_handcard, name="agent-handcard"),
    path("agents/<str:agent_id>/rotate", agents.agent_rotate, name="agent-rotate"),
    path("agents/<str:agent_id>/revoke", agents.agent_revoke, name="agent-revoke"),
    path("agents/<str:agent_id>/confirm/<str:step>", agents.agent_confirm, name="agent-confirm"),
    path("agents/<str:agent_id>/keys/<int:key_id>/restore", agents.key_restore, name="key-restore"),
    path("agents/<str:agent_id>/pause", agents.agent_pause, name="agent-pause"),
    path("agents/<str:agent_id>/resume", agents.agent_resume, name="agent-resume"),
    path("agents/<str:agent_id>/switch", agents.agent_switch, name="agent-switch"),
    path("agents/<str:agent_id>/endpoint-on", deliveries.endpoint_on, name="endpoint-on"),
    path("agents/<str:agent_id>/endpoint-discard", deliveries.endpoint_discard, name="endpoint-discard"),
    path("team/", team.team, name="team"),
    path("team/<int:team_id>/settings", team_settings.team_settings, name="team-settings"),
    path("team/<int:team_id>/members", people.member_add, name="member-add"),
    path("team/<int:team_id>/groups", people.group_save, name="group-save"),
    path("team/<int:team_id>/rules", team_rules.team_rules, name="team-rules"),
    path("team/<int:team_id>/asking", asking.asking, name="asking"),
    path("team/<int:team_id>/second-factor", team_settings.team_second_factor, name="team-second-factor"),
    path("team/<int:team_id>/tokens/<int:token_id>/revoke", people.member_token_revoke, name="member-token-revoke"),
    path("team/<int:team_id>/tokens/<int:token_id>/restore", people.member_token_restore, name="member-token-restore"),
    path("team/<int:team_id>/chat/test", team_settings.channel_test, name="channel-test"),
    path("team/<int:team_id>/chat/remove", team_settings.channel_remove, name="channel-remove"),
    path("team/<int:team_id>/decide-in/<slug:kind>/", chats.chat, name="chat"),
    path("team/<int:team_id>/decide-in/<slug:kind>/test", chats.test, name="chat-test"),
    path("team/<int:team_id>/decide-in/<slug:kind>/remove", chats.remove, name="chat-remove"),
    path(
        "team/<int:team_id>/decide-in/<slug:kind>/users/<int:user_id>/disconnect",
        chats.disconnect,
        name="chat-user-disconnect",
    ),
    path("chats/<int:team_id>/<slug:kind>", incoming.incoming, name="chat-incoming"),
    path("preferences/chats/connect/<str:token>", connecting.connect, name="chat-connect"),
    path("preferences/chats/<int:user_id>/disconnect", connecting.disconnect, name="chat-disconnect"),
    path("team/<int:team_id>/members/restore", people.member_restore, name="member-restore"),
    path("team/members/<int:membership_id>/confirm", people.member_confirm, name="member-confirm"),
    path("team/members/<int:membership_id>/remove", people.member_remove, name="member-remove"),
    path("team/members/<int:membership_id>/link", people.member_link, name="member-link"),
    path("team/<int:team_id>/webhooks/new", webhooks.webhook_new, name="webhook-new"),
    path("team/webhooks/<str:webhook_id>/", webhooks.webhook, name="webhook"),
    path("team/webhooks/<str:webhook_id>/confirm", webhooks.webhook_confirm, name="webhook-confirm"),
    path("team/webhooks/<str:webhook_id>/remove", webhooks.webhook_remove, name="webhook-remove"),
    path("team/webhooks/<str:webhook_id>/restore", webhooks.webhook_restore, name="webhook-restore"),
    path("team/webhooks/<str:webhook_id>/step", webhooks.webhook_step, name="webhook-step"),
    path("audit/", audit.audit, name="audit"),
    path("audit/export", audit.export, name="audit-export"),
    path("audit/export.<slug:form>", audit.export, name="audit-export-as"),
    path("admin/", admin.site.urls),
    # what has moved
    path("let-through/", _moved("spot-checks")),
    path("statistics/pace/", _moved("review-time")),
]
