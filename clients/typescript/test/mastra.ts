import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { before, suite, test } from "node:test";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import type { AskOptions, ClientOptions } from "@metacog/client";
import { MastraGate } from "@metacog/client/mastra";
import { z } from "zod";
import { metacog, ROOT, type Metacog } from "./metacog.js";

const ONE = [{ order: "4711", eur: 900 }];

/** Says that it makes these calls at once, and then that it is done; `told` is what it was given last. */
function scripted(calls: readonly object[]) {
  const model = {
    told: "",
    specificationVersion: "v2" as const,
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: { role: string }[] }) {
      model.told = JSON.stringify(prompt);
      const isDone = prompt.some((each) => each.role === "tool");
      const made = calls.map((each, n) => ({ type: "tool-call" as const, toolCallId: `call_${n}`, toolName: "refund", input: JSON.stringify(each) }));
      return {
        content: isDone ? [{ type: "text" as const, text: "Done." }] : made,
        finishReason: isDone ? ("stop" as const) : ("tool-calls" as const),
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
        warnings: [],
      };
    },
    async doStream(): Promise<never> {
      throw new Error("It generates.");
    },
  };
  return model;
}

suite("an agent of Mastra, behind the gate", () => {
  let server: Metacog;
  let made: number[];
  before(async () => void (server = await metacog()));

  const refund = createTool({
    id: "refund",
    description: "Refund an order.",
    inputSchema: z.object({ order: z.string(), eur: z.number() }),
    execute: async ({ eur }) => {
      if (eur < 0) throw new Error("No such amount.");
      made.push(eur);
      return `Refunded ${eur} EUR.`;
    },
  });

  /** Return all that the model was told. */
  async function play(run: string, gated: AskOptions = {}, calls: readonly object[] = ONE, options: ClientOptions = {}): Promise<string> {
    made = [];
    const client = server.client({ run, ...options });
    const gate = new MastraGate(client, gated);
    const model = scripted(calls);
    const agent = new Agent({
      id: "refunds",
      name: "refunds",
      instructions: "Refund.",
      model,
      tools: { refund },
      hooks: gate.hooks,
      inputProcessors: [gate],
    });
    await agent.generate("Refund it.");
    await client.reported();
    return model.told;
  }

  const named = () => `mastra-${crypto.randomUUID()}`;

  async function decided(verdict: "approve" | "edit" | "reject", more: object = {}) {
    const run = named();
    const playing = play(run);
    const { id } = await server.pending(run);
    assert.deepEqual(made, []);
    await server.decide(id, verdict, more);
    return { told: await playing, outcome: (await server.held(run))[0]!.outcome };
  }

  test("an approved call is made, and reported", async () => {
    const { told, outcome } = await decided("approve");
    assert.deepEqual(made, [900]);
    assert.match(told, /Refunded 900 EUR\./);
    assert.deepEqual([outcome?.status, outcome?.result], ["done", "Refunded 900 EUR."]);
  });

  test("an edited call is made as it was edited, and the model reads so", async () => {
    const { told } = await decided("edit", { arguments: { order: "4711", eur: 90 } });
    assert.deepEqual(made, [90]);
    assert.match(told, /Of your tool call call_0: A reviewer changed this before it was allowed\. The arguments are now/);
  });

  test("an edit that the tool does not take, and a call that failed, are reported as failed", async () => {
    for (const [given, words] of [[{}, /expected number/], [{ eur: -1 }, /No such amount/]] as const) {
      const { told, outcome } = await decided("edit", { arguments: { order: "4711", ...given } });
      assert.deepEqual([made, outcome?.status], [[], "failed"]);
      assert.match(told, words);
    }
  });

  test("a rejected call is not made, and the model reads why", async () => {
    const { told } = await decided("reject", { reason: "It was refunded last week." });
    assert.deepEqual(made, []);
    assert.match(told, /It was refunded last week\./);
  });

  test("what expires, or nobody decides in time, is not made", async () => {
    assert.match(await play(named(), { expiresIn: 1 }), /it has expired/);
    assert.match(await play(named(), { deadline: 0 }), /held for review/);
    assert.deepEqual(made, []);
  });

  test("nothing is made while metacog is down, unless the gate says so", async () => {
    await server.order("stop");
    try {
      assert.match(await play(named(), {}, ONE, { retrySeconds: 0.2 }), /could not be asked/);
      assert.deepEqual(made, []);
      await play(named(), { unreachable: "allow" }, ONE, { retrySeconds: 0.2 });
      assert.deepEqual(made, [900]);
    } finally {
      await server.order("start");
    }
  });

  test("of calls at once each has its own decision, also where they come too often", async () => {
    const rules = [{ tool: "refund", where: { "/eur": { eq: 2 } }, do: "deny" }];
    await server.order(`policy ${JSON.stringify({ rules, default_tool_call: "allow" })}`);
    await server.order("limit 1");
    try {
      await play(named(), {}, [1, 2, 3].map((eur) => ({ order: "4711", eur })));
    } finally {
      await server.order("limit 1000 1000");
      await server.order(`policy ${JSON.stringify({ rules: [], default_tool_call: "ask" })}`);
    }
    assert.deepEqual(made.sort(), [1, 3]);
  });

  test("what an agent's hooks ask, hooks of a run do not", async () => {
    const client = server.client({ run: named() });
    const agent = new Agent({ id: "refunds", name: "refunds", instructions: "Refund.", model: scripted(ONE), tools: { refund }, hooks: new MastraGate(client).hooks });
    made = [];
    await agent.generate("Refund it.", { hooks: { beforeToolCall: () => undefined } });
    assert.deepEqual(made, [900]); // as Mastra 1.71.0 has it
  });

  test("the page's program is killed while it waits, and goes on with the same held item", { timeout: 120_000 }, async () => {
    const page = await readFile(`${ROOT}docs/integrations.md`, "utf8");
    const [, program] = /```ts\n([^`]*@mastra\/core(?:[^`]|`Refunded[^`]*`)*)```/.exec(page)!;
    const folder = await mkdtemp(join(tmpdir(), "metacog-mastra-"));
    const packages = `${ROOT}clients/typescript/node_modules`;
    await mkdir(join(folder, "node_modules", "@metacog"), { recursive: true });
    await symlink(`${ROOT}clients/typescript`, join(folder, "node_modules", "@metacog", "client"));
    for (const name of ["@mastra", "zod"]) await symlink(join(packages, name), join(folder, "node_modules", name));
    await writeFile(join(folder, "agent.mjs"), program!);
    const env = { ...process.env, METACOG_URL: server.url, METACOG_API_KEY: server.ready.api_key };
    const start = () => spawn(process.execPath, ["agent.mjs"], { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
    const killed = start();
    const item = await server.pending("refund-4712");
    killed.kill("SIGKILL");
    await server.decide(item.id, "approve");
    assert.match(await text(start().stdout), /Refunded 900 EUR\./);
    assert.equal((await server.held("refund-4712")).length, 1);
    await rm(folder, { recursive: true });
  });
});
