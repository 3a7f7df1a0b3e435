// The session ended: what was typed about an item is kept in this tab until its person has signed in again.
"use strict";

{
  const KEY = "unsaved", KEPT_FOR = 3_600_000; // milliseconds
  const get = (id) => document.getElementById(id);
  const { user } = document.body.dataset;

  const read = () => JSON.parse(sessionStorage.getItem(KEY) ?? "null");

  function add(held, typed) {
    const kept = read() ?? { user, at: Date.now(), items: {} };
    kept.items[held] = { ...kept.items[held], ...typed };
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  }

  // What is typed about the item in sight.
  function keepTyped() {
    const held = get("item")?.dataset.held, typed = {};
    const preset = document.querySelector("#reject [name=preset]:checked"), field = get("edited");
    if (!held) return;
    if (get("reason")?.value) typed.reason = get("reason").value;
    if (preset) typed.preset = preset.value;
    if (get("comment")?.value) typed.comment = get("comment").value;
    if (field && !field.disabled) {
      typed.edited = field.matches("textarea") ? field.value
        : [...field.elements].filter((each) => each.name).map((each) => [each.name, each.type === "checkbox" ? each.checked : each.value]);
    }
    if (Object.keys(typed).length) add(held, typed);
  }

  // What is typed, and the reasons of decisions that could not be sent, or came back and were not shown yet.
  function keepAll() {
    keepTyped();
    for (const { held, body } of [...returned.map(({ decision }) => decision), ...decisions]) {
      const typed = Object.fromEntries(["preset", "reason"].map((name) => [name, body.get(name)]).filter(([, value]) => value));
      if (Object.keys(typed).length) add(held, typed);
    }
    isLeft = true;
  }

  // The first that could not be sent is where to go on.
  window.signInAgain = (address) => {
    keepAll();
    location.assign(decisions.length > 1 ? address.replace("unsaved=decision", "unsaved=decisions") : address);
  };

  document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (!event.detail.xhr.getResponseHeader("HX-Redirect")) return;
    if (decisions.length) event.preventDefault(); // their own answer leads to the sign-in, and says what was not saved
    else keepAll();
  });

  function fill(field, value) {
    if (field.type === "checkbox") field.checked = value;
    else field.value = value;
    field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function giveBack() {
    const kept = read(), held = get("item")?.dataset.held, typed = kept?.items[held];
    if (kept && (kept.user !== user || Date.now() - kept.at > KEPT_FOR)) return sessionStorage.removeItem(KEY);
    if (!typed) return;
    delete kept.items[held];
    sessionStorage.setItem(KEY, JSON.stringify(kept));
    const field = get("edited");
    if (typed.edited && field && get("edit")) {
      edit(true);
      if (field.matches("textarea")) fill(field, typed.edited);
      else for (const [name, value] of typed.edited) if (field.elements[name]?.type) fill(field.elements[name], value);
    }
    if ((typed.preset || typed.reason) && get("rejecting")) {
      get("rejecting").open = true;
      const preset = [...document.querySelectorAll("#reject [name=preset]")].find(({ value }) => value === typed.preset);
      if (preset) preset.checked = true;
      if (typed.reason) fill(get("reason"), typed.reason);
    }
    if (typed.comment && get("comment")) fill(get("comment"), typed.comment);
    say(document.body.dataset.typedAgain);
  }

  document.addEventListener("submit", ({ target }) => {
    if (target.querySelector(".out")) sessionStorage.clear(); // whoever signs out leaves nothing
  });
  document.addEventListener("htmx:afterSwap", ({ detail }) => { if (detail.target.id === "desk") giveBack(); });
  giveBack();
}
