"""Draw the icons of the installed app from static/metacog/favicon.svg, in the system's Chromium.

.venv/bin/python scripts/icons.py
"""

from __future__ import annotations

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

STATIC = Path(__file__).resolve().parent.parent / "static" / "metacog"
DRAWN = (STATIC / "favicon.svg").read_text()
# A system cuts its own shape out of these: nothing at the corners, and what matters within four fifths.
FILLED = (
    DRAWN.replace(' rx="7"', "")
    .replace('viewBox="0 0 32 32"', 'viewBox="-3 -3 38 38"')
    .replace('<rect width="32" height="32"', '<rect x="-3" y="-3" width="38" height="38"')
)
# Android draws what is not transparent in one colour.
PLAIN = DRAWN.replace('<rect width="32" height="32" rx="7" fill="#2f5d8a"/>', "").replace("#ffd27a", "#fff")
ICONS = {
    "app-192": (DRAWN, 192), "app-512": (DRAWN, 512), "maskable-512": (FILLED, 512), "apple-180": (FILLED, 180),
    "badge-96": (PLAIN, 96),
}  # fmt: skip

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
    for name, (svg, size) in ICONS.items():
        page = browser.new_page(viewport={"width": size, "height": size})
        sized = svg.replace("<svg ", f'<svg width="{size}" height="{size}" ')
        page.set_content(f"<body style='margin:0;background:transparent'>{sized}</body>")
        page.screenshot(path=STATIC / "icons" / f"{name}.png", omit_background=True)
    browser.close()
