// Turns notices on for this browser: it subscribes at its push service, and the form tells the server where.

import { byId } from "./page.js";

/** @type {HTMLFormElement | null} */
const form = byId("device");

const says = (state) => {
  for (const part of form?.querySelectorAll("[data-says]") ?? []) {
    /** @type {HTMLElement} */ (part).hidden = /** @type {HTMLElement} */ (part).dataset.says !== state;
  }
};

const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));
const isSame = (one, other) => one.length === other.length && one.every((each, place) => each === other[place]);

async function subscription() {
  const registration = await navigator.serviceWorker.ready;
  return { manager: registration.pushManager, found: await registration.pushManager.getSubscription() };
}

async function state() {
  if (!isSecureContext) return "insecure";
  if (!("serviceWorker" in navigator) || !("PushManager" in window)) {
    // Safari of iOS has it in an app on the Home Screen alone.
    return "standalone" in navigator && !navigator.standalone ? "install" : "unsupported";
  }
  if (Notification.permission === "denied") return "denied";
  const isListed = document.querySelector("[data-this-device]");
  return isListed && (await subscription()).found ? "on" : "off";
}

async function subscribe(key) {
  const { manager, found } = await subscription();
  const known = found?.options.applicationServerKey;
  if (found && known && isSame(new Uint8Array(known), key)) return found;
  await found?.unsubscribe(); // it was made with another key
  return manager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function turnOn() {
  if ((await Notification.requestPermission()) !== "granted") return says(await state());
  try {
    const { endpoint, keys } = (await subscribe(bytes(form.dataset.key))).toJSON();
    const given = { endpoint, ...keys };
    for (const name of ["endpoint", "p256dh", "auth"]) form.elements[name].value = given[name];
    form.submit();
  } catch {
    says("failed");
  }
}

if (form) {
  state().then(says);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    turnOn();
  });
}
