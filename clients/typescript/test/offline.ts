import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { BadSignature, Client, NotConfigured, verifyWebhook, type Asked } from "@metacog/client";
import { keyOf, outcome } from "../src/gating.js";
import { pauseAfter, retryAfter } from "../src/transport.js";
import { PYTHON, ROOT } from "./metacog.js";

const QUESTIONS: readonly Asked[] = [
  { name: "refund", arguments: { order: "4711", eur: 20 }, callId: "call_7" },
  { name: "refund", arguments: { eur: 20, order: "4711" }, callId: "call_7" },
  { name: "refund", arguments: { eur: 20.5, tiny: 0.00001, small: 1.5e-7, enough: 0.0001, big: 12345678901234 }, callId: "c" },
  { name: "post", arguments: { "\u{ffff}": 1, "\u{10000}": 2, "": null, a: [true, false, []] }, callId: "c" },
  { name: "say", arguments: 'quotes " \\ / \n\t\u0001\u007f\u2028 漢字 😀', callId: "c" },
  { name: "none", arguments: null, callId: "" },
  { text: "Clearly the cache.", callId: "c" },
  { text: "Clearly the cache.", kind: "remember", callId: "c" },
];

const PYTHON_KEYS = `
import json, sys
sys.path.insert(0, sys.argv[1])
from metacog_client.gating import Text, ToolCall, key_of
for each in json.load(sys.stdin):
    call_id = each.pop("callId")
    print(key_of("r-1", "s-1", (ToolCall if "name" in each else Text)(call_id=call_id, **each)))
`;

const PYTHON_BODIES = `
import json, sys
sys.path.insert(0, sys.argv[1])
from metacog_client.flows import PersonQuestion, Question
from metacog_client.gating import Text, ToolCall
call = json.load(sys.stdin)
call["call_id"] = call.pop("callId")
metadata = {"n": 1, "a": None}
print(Question.of(ToolCall(**call), "r-1", "s", user_message="Why?", metadata=metadata, require_review=True, expires_in=60).request().body.decode())
print(Question.of(Text("Clearly.", call_id="c"), "r-1", None).request().body.decode())
form = {"type": "object", "properties": {"to": {"type": "string"}, "eur": {"minimum": 1, "maximum": 9}}}
print(PersonQuestion("Which?", form, None, "r-1", "r-1", "c").request().body.decode())
`;

suite("what needs no server", () => {
  test("a question has the id that the Python client gives it", async () => {
    const input = JSON.stringify(QUESTIONS);
    const theirs = execFileSync(PYTHON, ["-c", PYTHON_KEYS, `${ROOT}clients/python/src`], { input, encoding: "utf8" });
    const ours = await Promise.all(QUESTIONS.map((each) => keyOf("r-1", "s-1", each)));
    assert.deepEqual(ours, theirs.trim().split("\n"));
    assert.equal(new Set(ours).size, QUESTIONS.length - 1); // the first two are one call
  });

  test("a question has the bytes that the Python client gives it", async () => {
    const bodies: unknown[] = [];
    const fake: typeof fetch = async (_, init) => (bodies.push(init?.body), new Response("{}"));
    const client = new Client({ url: "http://metacog", apiKey: "k", run: "r-1", fetch: fake });
    const schema = { type: "object", properties: { eur: { maximum: 1000 } } };
    const call = { name: "refund", arguments: { order: "漢字", eur: 0.00001 }, callId: "c".repeat(256), schema, description: "Refund" };
    await client.ask(call, { session: "s", userMessage: "Why?", metadata: { n: 1, a: null }, requireReview: true, expiresIn: 60 });
    await client.ask({ text: "Clearly.", callId: "c" });
    const form = { type: "object", properties: { to: { type: "string" }, eur: { minimum: 1, maximum: 9 } } };
    await client.ask("Which?", { schema: form, callId: "c" }).catch(() => {});
    const theirs = execFileSync(PYTHON, ["-c", PYTHON_BODIES, `${ROOT}clients/python/src`], { input: JSON.stringify(call), encoding: "utf8" });
    assert.deepEqual(bodies, theirs.trim().split("\n"));
  });

  test("a call without an id is another question each time", async () => {
    const call = { name: "refund", arguments: {} };
    assert.notEqual(await keyOf("r", "s", call), await keyOf("r", "s", call));
  });

  test("Retry-After is read as seconds and as a date", () => {
    const at = Date.parse("2026-02-16T08:00:00Z");
    const rows: [string | null, number][] = [
      ["7", 7],
      ["Mon, 16 Feb 2026 08:00:09 GMT", 9],
      ["Mon, 16 Feb 2026 07:00:00 GMT", 0],
      ["soon", 0],
      ["", 0],
      [null, 0],
    ];
    for (const [header, seconds] of rows) assert.equal(retryAfter(header, at), seconds, String(header));
  });

  test("pauses grow, and are never shorter than asked for", () => {
    for (const [asked, attempt, least, most] of [[0, 0, 0.125, 0.25], [0, 3, 1, 2], [0, 99, 2.5, 5], [7, 0, 7.125, 7.25]] as const) {
      const seconds = pauseAfter(asked, attempt);
      assert.ok(seconds >= least && seconds <= most, `${seconds} for ${asked}, ${attempt}`);
    }
  });

  test("a client without address or key is refused", () => {
    for (const options of [{}, { url: "http://x" }, { apiKey: "k" }, { url: "ftp://x", apiKey: "k" }, { url: "http://x", apiKey: "k\n" }]) {
      assert.throws(() => new Client(options), NotConfigured, JSON.stringify(options));
    }
  });

  test("an address may end in /api/v1, and one that is not metacog's is told so", async () => {
    const asked: string[] = [];
    const fake: typeof fetch = async (url) => (asked.push(String(url)), new Response("<html>", { status: 404 }));
    for (const url of ["http://x/api/v1", "http://x/api/v1//", "http://x//"]) {
      const client = new Client({ url, apiKey: "k", fetch: fake });
      assert.equal(client.url, "http://x");
      const told = await client.gate({ name: "refund", arguments: {} }, { unreachable: "allow" });
      assert.deepEqual([told.allowed, told.reason], [false, "what answers at this address is not metacog's API (404)"]);
    }
    assert.deepEqual([...new Set(asked)], ["http://x/api/v1/responses"]);
  });

  test("a reason ends before the next sentence", () => {
    for (const [reason, sentence] of [["too much ", "too much."], ["Too much!", "Too much!"], ["為什麼？", "為什麼？"]] as const) {
      assert.ok(outcome("reject", { reason }).message.endsWith(` Reason: ${sentence} Do not try the same again in another form.`));
    }
  });

  test("a webhook is believed only as it was signed, by a live secret, just now", async () => {
    const secret = `whsec_${Buffer.from("a secret of metacog's").toString("base64")}`;
    const other = `whsec_${Buffer.from("another").toString("base64")}`;
    const body = JSON.stringify({ type: "item.decided", timestamp: "2026-02-16T08:00:00Z", data: { held: "held_1", reason: "é漢" } });
    const at = 1_771_228_800;
    const signed = (by: string): string =>
      `v1,${createHmac("sha256", Buffer.from(by.slice(6), "base64")).update(`msg_1.${at}.${body}`).digest("base64")}`;
    const headers = { "Webhook-Id": "msg_1", "webhook-timestamp": String(at), "webhook-signature": signed(secret) };

    const told = await verifyWebhook(headers, body, secret, at * 1000);
    assert.deepEqual(told, { id: "msg_1", ...(JSON.parse(body) as object) });
    const raw = new TextEncoder().encode(body);
    await verifyWebhook(new Headers(headers), raw, [other, secret], (at + 299) * 1000);
    await verifyWebhook({ ...headers, "webhook-signature": `v1a,xx v1,%% ${signed(other)} ${signed(secret)}` }, raw, secret, at * 1000);

    const refused: [object, string, string | string[], number][] = [
      [headers, `${body} `, secret, at],
      [headers, body, other, at],
      [headers, body, [], at],
      [headers, body, "whsec_", at],
      [headers, body, secret, at + 301],
      [headers, body, secret, at - 301],
      [{ ...headers, "webhook-timestamp": String(at + 1) }, body, secret, at],
      [{ ...headers, "Webhook-Id": "msg_2" }, body, secret, at],
      [{ ...headers, "webhook-signature": "v1," }, body, secret, at],
      [{ "webhook-id": "msg_1", "webhook-timestamp": String(at) }, body, secret, at],
    ];
    for (const [given, text, by, now] of refused) {
      await assert.rejects(verifyWebhook(given as Record<string, string>, text, by, now * 1000), BadSignature);
    }
  });
});
