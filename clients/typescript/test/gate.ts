import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, stat } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { before, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { Client, isDecision, NotAnswered, Refused, SpoolFull, Unreachable, verifyWebhook, type Held, type Outcome, type ToolCall } from "@metacog/client";
import { FileStore } from "@metacog/client/file-store";
import { metacog, type Metacog } from "./metacog.js";

const SCHEMA = { type: "object", properties: { eur: { type: "number", maximum: 1000 } } };
const refund = (more: Partial<ToolCall> = {}): ToolCall => ({ name: "refund", arguments: { eur: 900 }, callId: "call_1", ...more });

suite("the gate, asked of a running server", () => {
  let server: Metacog;
  before(async () => void (server = await metacog()));

  test("an approved call is allowed with its arguments", async () => {
    const client = server.client();
    const gated = client.gate(refund());
    await server.decide((await server.pending(client.run)).id, "approve");
    const told = await gated;
    assert.deepEqual([told.verdict, told.allowed, told.arguments], ["approve", true, { eur: 900 }]);
  });

  test("a person's answer to a question comes back, and where there is none that is thrown", async () => {
    const client = server.client();
    const asked = client.ask<string>("Which account?", { choices: ["Savings", "Current"] });
    const { id } = await server.pending(client.run);
    await assert.rejects(server.decide(id, "answer", { answer: "Mine" }), /422/);
    await server.decide(id, "answer", { answer: "Current" });
    assert.equal(await asked, "Current");
    const refused = client.ask("How much?", { schema: { type: "number" } });
    refused.catch(() => {});
    await server.decide((await server.pending(client.run)).id, "reject", { reason: "Ask the owner." });
    await assert.rejects(refused, (error) => error instanceof NotAnswered && error.message.includes("Ask the owner."));
    await assert.rejects(client.ask("Anybody?", { expiresIn: 1 }), NotAnswered);
  });

  test("an edited call is allowed with the edited arguments, which meet its schema", async () => {
    const client = server.client();
    const gated = client.gate(refund({ schema: SCHEMA, description: "Refund order 4711" }), { metadata: { order: "4711" } });
    const item = await server.pending(client.run);
    assert.deepEqual([item.description, item.metadata["order"]], ["Refund order 4711", "4711"]);
    await assert.rejects(server.decide(item.id, "edit", { arguments: { eur: 9000 } }), /422/);
    await server.decide(item.id, "edit", { arguments: { eur: 90 }, reason: "One month only.", accept_risk: true });
    const told = await gated;
    assert.deepEqual([told.verdict, told.allowed, told.arguments, told.held], ["edit", true, { eur: 90 }, item.id]);
    assert.match(told.message, /changed this .* Reason: One month only\./);
  });

  test("a rejected call is not allowed, and the model is told why", async () => {
    const client = server.client();
    const gated = client.gate(refund());
    await server.decide((await server.pending(client.run)).id, "reject", { reason: "No receipt." });
    const told = await gated;
    assert.deepEqual([told.verdict, told.allowed, told.arguments], ["reject", false, null]);
    assert.match(told.message, /rejected this\. Reason: No receipt\./);
  });

  test("a call that nobody decides expires, and is not allowed", async () => {
    const told = await server.client().gate(refund(), { expiresIn: 1 });
    assert.deepEqual([told.verdict, told.allowed], ["expired", false]);
  });

  test("a denied call is not held, and an allowed one passes at once", async () => {
    const rules = [
      { tool: "drop_table", do: "deny", reason: "Never in production." },
      { tool: "read_*", do: "allow" },
    ];
    await server.order(`policy ${JSON.stringify({ rules })}`);
    const denied = await server.client().gate({ name: "drop_table", arguments: {} }, { unreachable: "allow" });
    assert.deepEqual([denied.verdict, denied.allowed, denied.reason, denied.held], ["deny", false, "Never in production.", null]);
    const passed = await server.client().gate({ name: "read_order", arguments: { order: 1 } });
    assert.deepEqual([passed.verdict, passed.allowed, passed.arguments], ["pass", true, { order: 1 }]);
    await server.order('policy {"rules": []}');
  });

  test("words come back as they were decided", async () => {
    const client = server.client();
    const gated = client.gate({ text: "It is certainly the cache." }, { requireReview: true, userMessage: "What is it?" });
    const item = await server.pending(client.run);
    await server.decide(item.id, "edit", { text: "It may be the cache." });
    assert.deepEqual([item.kind, (await gated).text], ["chat", "It may be the cache."]);
    assert.equal((await client.gate({ text: "Good morning.", kind: "task" })).text, "Good morning.");
  });

  test("at the deadline it is pending, and the same call asked again is the same held item", async () => {
    const client = server.client();
    const urls: (string | null)[] = [];
    const onHeld = (told: Outcome): void => void urls.push(told.reviewUrl);
    const [first, second] = [await client.gate(refund(), { deadline: 0, onHeld }), await client.ask(refund())];
    assert.deepEqual([first.verdict, first.allowed], ["pending", false]);
    assert.equal(second.held, first.held);
    assert.match(second.reviewUrl!, new RegExp(first.held!));
    assert.deepEqual(urls, [second.reviewUrl]);
    assert.equal(first.reviewUrl, second.reviewUrl);
    assert.ok(first.message.includes(first.reviewUrl!), first.message);
    await server.decide(first.held!, "approve");
    assert.equal((await client.wait(first.held!)).verdict, "approve");
    assert.equal((await client.gate(refund())).reviewUrl, first.reviewUrl);
    assert.equal((await server.held(client.run)).length, 1);
  });

  test("one approval that two calls waited for lets one of them through", async () => {
    const client = server.client();
    const both = [client.gate(refund(), { deadline: 3 }), client.gate(refund({ callId: "call_2" }), { deadline: 3 })];
    for (let item = await server.pending(client.run); item.asks !== 2; ) item = await server.pending(client.run);
    await server.decide((await server.pending(client.run)).id, "approve");
    const verdicts = (await Promise.all(both)).map((each) => each.verdict).sort();
    assert.deepEqual(verdicts, ["approve", "pending"]);
    assert.equal((await server.held(client.run)).length, 2); // the other one waits for an approval of its own
  });

  test("an outcome is reported once, and then the call is a new question", async () => {
    const client = server.client();
    const gated = client.gate(refund());
    await server.decide((await server.pending(client.run)).id, "approve");
    const { held } = await gated;
    for (let times = 0; times < 2; times++) {
      assert.deepEqual((await client.report(held!, "done", { result: { refund: 17 } })).result, { refund: 17 });
    }
    await assert.rejects(client.report(held!, "failed"), { name: "Refused", status: 409 });
    const anew = await client.gate(refund(), { deadline: 0 });
    assert.deepEqual([anew.verdict, anew.allowed, anew.held === held], ["pending", false, false]);
    assert.equal((await client.wait(held!)).allowed, false);
  });

  test("what became of a call is reported once it was made, whatever it returned, and nothing of one that was not approved", async () => {
    const results: [unknown, (taken: unknown) => boolean][] = [
      ["é".repeat(20_000), (taken) => typeof taken === "string" && taken.length > 5_000],
      [{ at: new Date(0), lost: undefined }, (taken) => isDeepStrictEqual(taken, { at: "1970-01-01T00:00:00.000Z" })],
      [1n, (taken) => taken === "1"],
      [JSON.parse("[".repeat(100) + "]".repeat(100)), (taken) => taken === null],
    ];
    for (const [result, isRight] of results) {
      const client = server.client();
      const gated = client.gate(refund());
      await server.decide((await server.pending(client.run)).id, "approve");
      const outcome = await gated;
      assert.equal(await client.forRun("other").reporting(outcome, () => result), result);
      await client.reported();
      const { outcome: became } = await client.call<Held>("GET", `/held/${outcome.held}`);
      assert.ok(became?.status === "done" && isRight(became.result), JSON.stringify(became).slice(0, 200));
    }
    const away = server.client({ url: "http://127.0.0.1:2" });
    await away.reporting(await away.ask(refund(), { unreachable: "allow", deadline: 0 }), () => 1);
    await away.reported(); // at once: there is nothing to report
  });

  test("a figure that an earlier tool gave is not marked as invented", async () => {
    const score = async (outputs: boolean) => {
      const client = server.client({ outputs });
      const told = await client.gate({ name: "orders", arguments: {} });
      await client.reporting(told, () => ({ orders: [{ eur: 1234, paid: "2025-03-03" }] }));
      client.addOutput("Nobody else has paid.", { tool: "search" });
      const text = "The first order cost 1,234 EUR and was paid on 3 March 2025.";
      const held = await client.ask({ text }, { requireReview: true });
      const { hesitation } = await server.review<Held>(`/held/${held.held}`);
      return { given: (await server.given(client.run)).at(-1), signals: (hesitation as { signals: { type: string }[] }).signals.map((each) => each.type) };
    };
    await server.order('policy {"profile": "aware"}');
    try {
      await server.allowing(async () => {
        const given = "[orders]\neur: 1234\npaid: 2025-03-03\n[search]\nNobody else has paid.";
        assert.deepEqual(await score(true), { given, signals: [] });
        assert.deepEqual(await score(false), { given: "", signals: ["no-source"] });
      });
    } finally {
      await server.order('policy {"profile": "seed"}');
    }
  });

  test("what tools gave goes along once, with the next response of its session; what is cut of it is named", async () => {
    const client = server.client();
    client.addOutput("one");
    client.addOutput("elsewhere", { session: `${client.run}-2` });
    await assert.rejects(client.record("Not taken.", { fields: { cycle: -1 } }), Refused);
    await client.ask(refund());
    client.addOutput({ two: [2, null] });
    await client.ask(refund()); // asked again it is the same to the byte
    await client.record("Next.");
    await client.record("Last.", { fields: { command_output: "its own" } });
    await client.forRun("r").record("There.", { session: `${client.run}-2` });
    client.addOutput("Paid: 17 EUR", { tool: "pay" });
    client.addOutput("x y ".repeat(40_000), { tool: "read" });
    client.addOutput({ image: "A".repeat(9_000) });
    await client.record("So.");
    for (let number = 0; number < 140; number++) client.addOutput(`${number} `.repeat(1_000));
    await client.record("So again.");
    client.addOutput("😀".repeat(40_000));
    client.addOutput(`a${"😀".repeat(40_000)}`);
    await client.record("No half of a character.");
    client.addOutput("much ".repeat(20_000));
    await client.ask({ name: "write", arguments: { text: "x".repeat(1_000_000) } });
    const given = await server.given(client.run);
    const [many, last] = [given.at(-3)!, given.at(-1)];
    assert.deepEqual(given.slice(0, 3), ["one", "two: 2", "its own"]);
    assert.deepEqual(await server.given(`${client.run}-2`), ["elsewhere"]);
    assert.match(given[3]!, /^\[pay\]\nPaid: 17 EUR\n\[read\]\nx y x y /);
    assert.match(given[3]!, /\n\[… the rest of what read gave is left out\]\nimage: \[data that is no text is left out\]$/);
    assert.match(many, /^\[12 earlier outputs are left out\]\n12 12 /);
    assert.ok(given[3]!.length <= 65_536 && many.length <= 65_536);
    assert.equal(last, "[what tools gave before is left out: this response is too large]");
  });

  test("a schema that is too large is left out, and the held item says so", async () => {
    const client = server.client();
    await client.ask(refund({ schema: { type: "object", description: "é".repeat(32_768) } }));
    const item = await client.call<Held>("GET", `/held/${(await server.pending(client.run)).id}`);
    assert.deepEqual([item.schema, item.schema_omitted], [null, true]);
  });

  test("asked again with other words around it, a call is the same held item", async () => {
    const client = server.client();
    const first = await client.ask(refund({ description: "Refund order 4711" }));
    const again = await client.forRun(client.run).ask(refund({ description: "Refund it" }));
    assert.deepEqual([again.verdict, again.held], ["pending", first.held]);
    assert.notEqual((await client.forRun("another").ask(refund())).held, first.held);
    await server.decide(first.held!, "approve");
    const told = [];
    for (const callId of ["call_1", "call_2"]) told.push((await client.wait(first.held!, { asked: refund({ callId }), deadline: 0 })).verdict);
    assert.deepEqual(told, ["approve", "pending"]); // one approval, one of the two
  });

  test("another process, which does not know what tools gave, goes on with the same held item", async () => {
    const [client, words] = [server.client(), { text: "It is so.", callId: "text_1" }];
    const other = () => server.client({ run: client.run });
    for (const [callId, verdict, more] of [["call_1", "approve", {}], ["call_2", "edit", { arguments: { eur: 3 } }], ["call_3", "reject", { reason: "Not today." }]] as const) {
      client.addOutput("one");
      const { held } = await client.ask(refund({ callId }));
      await server.decide(held!, verdict, more);
      const told = await other().gate(refund({ callId }));
      assert.deepEqual([told.verdict, told.held], [verdict, held]);
    }
    client.addOutput("two");
    const { held } = await client.ask(words, { requireReview: true });
    assert.equal((await other().ask(words, { requireReview: true })).held, held);
  });

  test("a withdrawn call is not allowed", async () => {
    const client = server.client();
    const { held } = await client.ask(refund());
    assert.equal((await client.withdraw(held!, "Paid already.")).verdict, "withdraw");
    assert.equal((await client.wait(held!)).verdict, "withdrawn");
    await assert.rejects(server.client().withdraw("held_none"), (error) => error instanceof Refused && error.status === 404);
  });

  test("aborted, it rejects at once, and the item stays held", async () => {
    const client = server.client();
    const stop = new AbortController();
    const gated = client.gate(refund(), { signal: stop.signal });
    const item = await server.pending(client.run);
    stop.abort(new Error("the user left"));
    await assert.rejects(gated, /the user left/);
    assert.equal((await server.held(client.run))[0]!.id, item.id);
    await assert.rejects(client.gate(refund(), { signal: AbortSignal.abort() }), { name: "AbortError" });
  });

  test("killed while it waits, the next process takes up the same held item", { timeout: 120_000 }, async () => {
    const run = `run-${crypto.randomUUID()}`;
    const start = () =>
      spawn(process.execPath, [fileURLToPath(new URL("waiter.js", import.meta.url)), run], {
        env: { ...process.env, METACOG_URL: server.url, METACOG_API_KEY: server.ready.api_key },
        stdio: ["ignore", "pipe", "inherit"],
      });
    const killed = start();
    const item = await server.pending(run);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    const resumed = start();
    await server.decide(item.id, "edit", { arguments: { eur: 90 }, accept_risk: true });
    const told = JSON.parse(await text(resumed.stdout!)) as { held: string; arguments: unknown };
    assert.deepEqual([told.held, told.arguments], [item.id, { eur: 90 }]);
    assert.deepEqual((await server.held(run)).map((each) => [each.id, each.asks]), [[item.id, 1]]);
  });

  test("beyond its rate it asks again later, and each call is asked once", async () => {
    await server.order("limit 1 1");
    const client = server.client();
    const told = await Promise.all([1, 2, 3].map((eur) => client.ask(refund({ arguments: { eur }, callId: `call_${eur}` }))));
    assert.deepEqual(told.map((each) => each.verdict), ["pending", "pending", "pending"]);
    assert.equal((await server.held(client.run)).length, 3);
    await server.client().ask(refund());
    const late = await server.client({ retrySeconds: 0.2 }).ask(refund());
    assert.equal(late.verdict, "unreachable");
    assert.match(late.reason, /429/);
    await server.order("limit 1000 1000");
  });

  test("while metacog is down nothing is allowed, unless the call says so; back again, it answers", async () => {
    const client = server.client({ retrySeconds: 1 });
    const { held } = await client.ask(refund());
    await server.order("stop");
    const told = await client.gate(refund({ callId: "call_2" }));
    assert.deepEqual([told.verdict, told.allowed, told.arguments], ["unreachable", false, null]);
    assert.match(told.message, /could not be asked.*ECONNREFUSED/);
    const let_ = await client.gate(refund({ callId: "call_2" }), { unreachable: "allow" });
    assert.deepEqual([let_.verdict, let_.allowed, let_.arguments], ["unreachable", true, { eur: 900 }]);
    const waited = await client.wait(held!, { deadline: 1 });
    assert.deepEqual([waited.verdict, waited.allowed, waited.held], ["pending", false, held]);
    await assert.rejects(client.context(), Unreachable);
    const run = crypto.randomUUID();
    const patient = server.client({ run, retrySeconds: 120 }).gate(refund());
    await server.order("start");
    await server.decide((await server.pending(run)).id, "approve");
    assert.equal((await patient).verdict, "approve");
  });

  test("a key that metacog does not know opens nothing, whatever the call says", async () => {
    const told = await server.client({ apiKey: "mck_none" }).gate(refund(), { unreachable: "allow" });
    assert.deepEqual([told.verdict, told.allowed], ["unreachable", false]);
    assert.match(told.reason, /401/);
    await assert.rejects(server.client({ apiKey: "mck_none" }).decisions(), (error) => error instanceof Refused && error.status === 401);
  });

  test("an answer that is not metacog's opens nothing", async () => {
    const answers = [
      '{"items": []}',
      '{"items": [{"disposition": "pass"}]}',
      '{"items": [{"disposition": "new", "arguments": {}}]}',
      '{"items": [{"disposition": "hold", "held": null}]}',
      "[]",
      "null",
      "<html>",
    ];
    const queue = [...answers];
    const fake = createServer((_, answer) => answer.writeHead(201).end(queue.shift())).listen(0, "127.0.0.1");
    await once(fake, "listening");
    const client = new Client({ url: `http://127.0.0.1:${(fake.address() as AddressInfo).port}`, apiKey: "k" });
    for (const each of answers) {
      assert.deepEqual((await client.gate(refund())).allowed, false, each);
    }
    fake.close();
  });

  test("the key does not follow a redirect", async () => {
    const seen: (string | undefined)[] = [];
    const other = createServer((request, answer) => {
      seen.push(request.headers.authorization);
      answer.end("{}");
    }).listen(0, "127.0.0.1");
    await once(other, "listening");
    const there = `http://127.0.0.1:${(other.address() as AddressInfo).port}/`;
    const here = createServer((_, answer) => answer.writeHead(307, { Location: there }).end()).listen(0, "127.0.0.1");
    await once(here, "listening");
    const client = new Client({ url: `http://127.0.0.1:${(here.address() as AddressInfo).port}`, apiKey: "k", retrySeconds: 0.1 });
    assert.equal((await client.gate(refund())).allowed, false);
    assert.deepEqual(seen, []);
    here.close();
    other.close();
  });

  test("what is no JSON is not asked, and not allowed", async () => {
    const round: Record<string, unknown> = {};
    round["self"] = round;
    for (const each of [{ n: 1n }, { n: NaN }, round]) {
      const told = await server.client().gate(refund({ arguments: each }), { unreachable: "allow" });
      assert.deepEqual([told.verdict, told.allowed], ["unreachable", false]);
      assert.match(told.reason, /no JSON/);
    }
  });

  test("the feed, the context and the memory are read", async () => {
    const client = server.client();
    const { held } = await client.ask(refund(), { metadata: { order: "4711" } });
    await server.decide(held!, "reject", { reason: "No receipt." });
    await client.wait(held!);
    const [decision] = await client.decisions(0, { session: client.run });
    assert.deepEqual([decision!.held, decision!.reason], [held, "No receipt."]);
    assert.deepEqual(await client.decisions(decision!.seq, { session: client.run }), []);
    assert.equal((await client.decisions(0, { limit: 1, metadata: { run: client.run } })).length, 1);
    assert.ok((await client.context()).decided.some((each) => each.held === held));
    assert.match(await client.contextText(), /No receipt\./);
    const memory = await client.remember("Refunds above 500 EUR need a receipt.", { topic: "refunds", source: "handbook" });
    assert.equal(memory.topic, "refunds");
    assert.equal((await client.remember("Refunds above 500 EUR need a receipt.")).id, memory.id);
    if (memory.state === "confirmed") assert.ok((await client.recall("refunds receipt")).some((each) => each.id === memory.id));
  });

  test("what only needs recording is kept while metacog is away, and recorded once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "metacog-spool-"));
    const store = new FileStore(folder, { mostRecords: 2 });
    const away = new Client({ url: "http://127.0.0.1:2", apiKey: "k", spool: store });
    await away.record("The order was refunded.", { session: "spool" });
    await away.record("x", { fields: { cycle: -1 } }); // out of shape
    await assert.rejects(away.record("One more."), SpoolFull);
    assert.equal(await away.flush(0), 2);
    away.close();
    assert.equal((await stat(join(folder, (await readdir(folder))[0]!))).mode & 0o777, 0o600);

    const [, body] = (await store.oldest(1))[0]!;
    const before = await server.client().call<{ id: string }>("POST", "/responses", JSON.parse(body)); // as one that was killed then
    const client = server.client({ spool: new FileStore(folder) });
    assert.equal(await client.flush(), 0);
    client.close();
    const after = await server.client().call<{ id: string }>("POST", "/responses", JSON.parse(body));
    assert.equal(after.id, before.id);
    const [refused] = await readdir(join(folder, "refused"));
    assert.match(await readFile(join(folder, "refused", refused!), "utf8"), /"why":".*422/);
    await rm(folder, { recursive: true });
  });

  test("it is recorded in the background, and at once where there is no spool", async () => {
    const folder = await mkdtemp(join(tmpdir(), "metacog-spool-"));
    const store = new FileStore(folder);
    const client = server.client({ spool: store });
    await client.record("The order was refunded.");
    while (await store.count()) await sleep(20);
    await rm(folder, { recursive: true });
    await server.client().record("The order was refunded.");
    await assert.rejects(server.client().record("x", { fields: { cycle: -1 } }), Refused);
  });

  test("a webhook of the server is verified, and holds the decision", async () => {
    const client = server.client();
    const came = new Promise<{ headers: NodeJS.Dict<string | string[]>; body: string }>((resolve) => {
      const receiver = createServer((request, answer) => {
        void text(request).then((body) => {
          answer.writeHead(204).end();
          receiver.close();
          resolve({ headers: request.headers, body });
        });
      }).listen(Number(new URL(server.ready.callback_url).port), "127.0.0.1");
    });
    await server.order(`callback ${server.ready.callback_url}`);
    const { held } = await client.ask(refund());
    await server.decide(held!, "approve");
    const { headers, body } = await came;
    await server.order("callback ");
    const told = await verifyWebhook(headers, body, server.ready.signing_secret);
    assert.ok(isDecision(told));
    assert.deepEqual([told.data.held, told.data.verdict, told.data.arguments], [held, "approve", { eur: 900 }]);
  });
});
