import { existsSync } from "node:fs";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { suite, test } from "node:test";
import { metacog } from "./metacog.js";

suite("the example", () => {
  test("it is killed while it waits, goes on in another process, and makes each call once, as it was decided", { timeout: 120_000 }, async () => {
    const server = await metacog();
    const folder = await mkdtemp(join(tmpdir(), "metacog-example-"));
    const file = join(folder, "refunds.json");
    const env = { ...process.env, METACOG_URL: server.url, METACOG_API_KEY: server.ready.api_key, STATE_FILE: file };
    const start = () => spawn(process.execPath, ["build/examples/refund-agent.js"], { env, stdio: ["ignore", "pipe", "inherit"] });

    const killed = start();
    const early = text(killed.stdout!);
    const run = "refunds-4711-to-4713";
    while (!existsSync(file)) await sleep(50);
    killed.kill("SIGKILL");
    await once(killed, "exit");
    assert.match(await early, /^3 calls are held/);

    const resumed = start();
    const late = text(resumed.stdout!);
    const held = new Map((await server.held(run)).map((item) => [item.call_id, item.id]));
    assert.equal(held.size, 3);
    await server.decide(held.get("call_0")!, "approve");
    await server.decide(held.get("call_1")!, "edit", { arguments: { order: "4712", eur: 90 }, accept_risk: true });
    await server.decide(held.get("call_2")!, "reject", { reason: "Ordered once." });
    assert.deepEqual((await late).trim().split("\n").sort(), [
      "All that may be refunded is.",
      "call_0: refunding 20 EUR for order 4711",
      "call_1: refunding 90 EUR for order 4712",
    ]);
    assert.equal((await server.held(run)).length, 3);
    assert.match(await readFile(file, "utf8"), /execution-denied[^}]*Ordered once/);

    await rm(file); // it forgets everything: what was made is asked about anew, and what was rejected stays rejected
    const again = start();
    const third = text(again.stdout!);
    while ((await server.held(run)).length < 5) await sleep(50);
    again.kill("SIGKILL");
    assert.doesNotMatch(await third, /refunding/);
    await rm(folder, { recursive: true });
  });
});
