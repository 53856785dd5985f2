"""The board's addresses. Every dialog has one of its own, and is a page when it is opened directly."""

from django.contrib.auth import views as auth
from django.urls import path, re_path, register_converter
from django.urls.converters import StringConverter
from django.views.generic import RedirectView

from .approvals import approval, approvals, decline
from .block import block
from .bulk import bulk
from .can import can
from .cancel import cancel
from .checks import check
from .deeds import deed
from .disputed import disputed
from .exports import jobs_file, queue_file
from .insights import insights, insights_file
from .job import job
from .jobs import jobs
from .late_writes import late_writes
from .lookups import event, keys, tombstones, words
from .me import me
from .operations import abort, operation, operations
from .outcome import outcome
from .trail import trail, trail_file
from .verify import queue
from .views import new_view, remove_view
from .workers import workers


class JobId(StringConverter):
    """A job id as the protocol has it; anything else is no page of ours."""

    regex = r"[A-Za-z0-9][A-Za-z0-9._:@-]{0,127}"


class EventId(StringConverter):
    regex = r"~?[A-Za-z0-9][A-Za-z0-9._:-]{0,127}"


class ProposalId(StringConverter):
    regex = r"p-[0-9a-f]{20}"


class OperationId(StringConverter):
    regex = r"op-[0-9a-f]{20}"


register_converter(OperationId, "operation")
register_converter(ProposalId, "proposal")
register_converter(JobId, "job")
register_converter(EventId, "event")

login = auth.LoginView.as_view(template_name="runs/account/login.html", redirect_authenticated_user=True)
logout = auth.LogoutView.as_view(template_name="runs/account/logged_out.html", next_page="logout")

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="verify"), name="home"),
    path("login/", login, name="login"),
    path("logout/", logout, name="logout"),
    path("verify/", queue, name="verify"),
    path("verify/export.csv", queue_file, name="queue_file"),
    path("jobs/export.csv", jobs_file, name="jobs_file"),
    path("approvals/", approvals, name="approvals"),
    path("approvals/<proposal:proposal>/", approval, name="approval"),
    path("approvals/<proposal:proposal>/decline/", decline, name="decline"),
    path("jobs/", jobs, name="jobs"),
    path("jobs/<job:job_id>/", job, name="job"),
    path("jobs/<job:job_id>/steps/<int:ordinal>/outcome/", outcome, name="outcome"),
    path("jobs/<job:job_id>/steps/<int:ordinal>/check/", check, name="check"),
    path("jobs/<job:job_id>/cancel/", cancel, name="cancel"),
    path("jobs/<job:job_id>/<slug:name>/", deed, name="deed"),
    path("events/<event:event_id>/", event, name="event"),
    path("tombstones/", tombstones, name="tombstones"),
    path("tombstones/new/", block, name="block"),
    path("operations/", operations, name="operations"),
    path("operations/new/", bulk, name="bulk"),
    path("operations/<operation:operation_id>/", operation, name="operation"),
    path("operations/<operation:operation_id>/abort/", abort, name="abort"),
    path("me/", me, name="me"),
    path("views/new/", new_view, name="new_view"),
    path("views/<int:view_id>/remove/", remove_view, name="remove_view"),
    path("workers/", workers, name="workers"),
    path("disputed/", disputed, name="disputed"),
    path("late/", late_writes, name="late"),
    path("insights/", insights, name="insights"),
    path("insights/<slug:plot>.csv", insights_file, name="insights_file"),
    path("audit/", trail, name="trail"),
    re_path(r"^audit/export\.(csv|json)$", trail_file, name="trail_file"),
    path("can/", can, name="can"),
    path("help/words/", words, name="words"),
    path("help/keys/", keys, name="keys"),
]
