// A passkey that did not come: what django-allauth's script tells the page of, in a sentence beside the button.
document.addEventListener("allauth.error", (event) => {
  const told = document.getElementById("passkey-told");
  const isCancelled = ["NotAllowedError", "AbortError"].includes(event.detail.exception.name); // the same for a time-out
  if (isCancelled) event.preventDefault(); // else it is written into the browser's console as well
  told.textContent = (isCancelled ? told.dataset.cancelled : told.dataset.failed).trim();
  told.hidden = false;
});
