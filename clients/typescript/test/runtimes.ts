import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createHmac } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";
import { before, suite, test } from "node:test";
import { metacog, type Metacog } from "./metacog.js";

const CHROMIUM = (process.env["PATH"] ?? "")
  .split(delimiter)
  .flatMap((folder) => ["chromium", "chromium-browser", "google-chrome"].map((name) => join(folder, name)))
  .find((path) => existsSync(path));
const SOON = { timeout: 120_000 };
const EDITED = { order: "4711", eur: 90 };

/** What the scripts in Deno and in a page are given. */
function given(server: Metacog, run: string) {
  const [id, at, body] = ["msg_1", String(Math.floor(Date.now() / 1000)), '{"type":"item.decided","data":"漢字"}'];
  const secret = server.ready.signing_secret;
  const signature = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`${id}.${at}.${body}`).digest("base64");
  const headers = { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": `v1,${signature}` };
  return { run, metacog: server.url, apiKey: server.ready.api_key, webhook: { headers, body, secret } };
}

suite("other places that have fetch", () => {
  let server: Metacog;
  before(async () => void (server = await metacog()));

  const edit = async (run: string) => server.decide((await server.pending(run)).id, "edit", { arguments: EDITED, accept_risk: true });

  test("Deno asks, verifies and keeps records", SOON, async () => {
    const run = crypto.randomUUID();
    const folder = await mkdtemp(join(tmpdir(), "metacog-deno-"));
    const args = JSON.stringify({ ...given(server, run), url: server.url, folder });
    const deno = spawn(
      "node_modules/.bin/deno",
      ["run", "--no-prompt", "--no-remote", "--no-lock", "--allow-net=127.0.0.1", `--allow-read=.,${folder}`, `--allow-write=${folder}`, "test/deno.mjs", args],
      { stdio: ["ignore", "pipe", "inherit"] },
    );
    const [said] = await Promise.all([text(deno.stdout!), edit(run)]);
    assert.deepEqual(JSON.parse(said), { verdict: "edit", arguments: EDITED, webhook: "漢字", kept: 1 });
    await rm(folder, { recursive: true });
  });

  test("a page asks by its own origin", { ...SOON, skip: CHROMIUM ? false : "no chromium is on the PATH" }, async () => {
    const run = crypto.randomUUID();
    let tell: (result: string) => void;
    const result = new Promise<string>((resolve) => (tell = resolve));
    const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const path = request.url!;
      if (path.startsWith("/api/")) {
        const init = { method: request.method!, headers: { authorization: request.headers.authorization ?? "", "content-type": "application/json" } };
        const body = request.method === "GET" ? null : await text(request);
        const came = await fetch(server.url + path, { ...init, body });
        response.writeHead(came.status).end(await came.text());
      } else if (path === "/given") {
        response.end(JSON.stringify(given(server, run)));
      } else if (path === "/result") {
        tell(await text(request));
        response.end();
      } else if (/^\/(dist|test)\/[a-z-]+\.m?js$/.test(path)) {
        response.writeHead(200, { "Content-Type": "text/javascript" }).end(await readFile(`.${path}`));
      } else {
        response.writeHead(200, { "Content-Type": "text/html" }).end('<script type="module" src="/test/page.mjs"></script>');
      }
    };
    const site = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
    await once(site, "listening");
    const profile = await mkdtemp(join(tmpdir(), "metacog-page-"));
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", `--user-data-dir=${profile}`];
    const browser = spawn(CHROMIUM!, [...flags, `http://127.0.0.1:${(site.address() as AddressInfo).port}/`], { stdio: "ignore" });
    try {
      const [said] = await Promise.all([result, edit(run)]);
      // `elsewhere`: metacog sends no CORS headers, so that a page of another origin cannot ask it.
      assert.deepEqual(JSON.parse(said), { verdict: "edit", arguments: EDITED, webhook: "漢字", elsewhere: "unreachable" });
    } finally {
      const gone = once(browser, "exit");
      browser.kill();
      await gone;
      site.close();
      site.closeAllConnections();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  });
});
