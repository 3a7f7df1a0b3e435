// Runs behind the pages of the installed app. What it keeps is the page for when there is no connection: nothing that
// says anything of a person or a team. /service-worker.js names that in KEPT and brings this file.

/** @type {any} */
const worker = self;
/** @type {{cache: string, page: string, files: string[], icon: string, badge: string}} */
const KEPT = worker.KEPT;

worker.addEventListener("install", (event) => {
  // What is no page and no file of that page goes past it: a browser that knows routes asks it nothing then.
  const modes = ["cors", "same-origin"].map((requestMode) => ({ requestMode }));
  event.addRoutes?.({ condition: { or: modes }, source: "network" }).catch(() => {});
  event.waitUntil(keep());
});

async function keep() {
  const cache = await caches.open(KEPT.cache);
  // Without cookies: as nobody sees it.
  await cache.addAll([KEPT.page, ...KEPT.files].map((path) => new Request(path, { credentials: "omit", cache: "reload" })));
  await worker.skipWaiting();
}

worker.addEventListener("activate", (event) => event.waitUntil(begin()));

async function begin() {
  for (const name of await caches.keys()) if (name !== KEPT.cache) await caches.delete(name);
  await worker.registration.navigationPreload?.enable(); // the page is asked for while this starts
  await worker.clients.claim();
}

worker.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method !== "GET") return;
  if (request.mode === "navigate") event.respondWith(opened(event));
  else if (KEPT.files.includes(new URL(request.url).pathname)) event.respondWith(kept(request));
});

async function opened(event) {
  try {
    return (await event.preloadResponse) ?? (await fetch(event.request));
  } catch {
    return (await caches.match(KEPT.page)) ?? Response.error();
  }
}

async function kept(request) {
  try {
    return await fetch(request);
  } catch {
    return (await caches.match(request.url)) ?? Response.error();
  }
}

// -- notices -------------------------------------------------------------------------------------

worker.addEventListener("push", (event) => {
  const { title, options } = event.data.json();
  const { icon, badge } = KEPT;
  event.waitUntil(worker.registration.showNotification(title, { ...options, icon, badge }));
});

// A press opens a page and decides nothing: there the person is known, and presses once more.
worker.addEventListener("notificationclick", (event) => {
  const { path, closed } = event.notification.data;
  event.notification.close();
  event.waitUntil(Promise.all([openPage(event.action || path), tell(closed)]));
});

worker.addEventListener("notificationclose", (event) => event.waitUntil(tell(event.notification.data.closed)));

async function openPage(path) {
  const url = new URL(path, worker.location.origin).href;
  const windows = await worker.clients.matchAll({ type: "window" });
  const there = windows.find((each) => each.url === url);
  await (there ? there.focus() : worker.clients.openWindow(url));
}

// That it shows this no more, so that no other notice comes once it is decided.
const tell = (closed) => fetch(closed, { method: "POST", credentials: "omit" }).catch(() => {});
