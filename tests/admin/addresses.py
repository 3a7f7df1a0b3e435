"""Where the admin keeps its pages."""

from typing import Any

from django.urls import reverse


def address(model: Any, action: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{action}", args=args)
