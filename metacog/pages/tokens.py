"""A person's own access tokens: made, shown once, revoked."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from metacog.accounts import tokens
from metacog.accounts.forms import TokenForm
from metacog.http import once
from metacog.models import PersonalToken
from metacog.pages.account import Request, preferences_page


@never_cache
@require_POST
def token_new(request: Request) -> HttpResponse:
    """Make the person a token, which is shown this once."""
    form = TokenForm(request.POST)
    if form.is_valid():
        if once.is_repeated(request):
            return redirect("preferences")
        try:
            _token, text = tokens.issue(request.user, **form.cleaned_data)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            return preferences_page(request, status=200, new_token=text)
    return preferences_page(request, token=form, status=422)


@require_POST
def token_revoke(request: Request, token_id: int) -> HttpResponse:
    """End one of the person's own tokens."""
    token = get_object_or_404(PersonalToken, pk=token_id, person=request.user)
    if tokens.revoke(token, request.user):
        messages.success(request, _("The token “%(name)s” is revoked.") % {"name": token.name})
    return redirect("preferences")
