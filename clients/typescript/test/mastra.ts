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

/** Says that it makes these calls at once, then those one by one, and then that it is done; `told` is what it was given last. */
function scripted(calls: readonly object[], then: readonly object[] = []) {
  const model = {
    told: "",
    specificationVersion: "v2" as const,
    provider: "scripted",
    modelId: "scripted",
    supportedUrls: {},
    async doGenerate({ prompt }: { prompt: { role: string }[] }) {
      model.told = JSON.stringify(prompt);
      const turn = prompt.filter((each) => each.role === "tool").length;
      const turns = [calls, ...then.map((each) => [each])];
      const isDone = turn >= turns.length;
      const made = (turns[turn] ?? []).map((each, n) => ({ type: "tool-call" as const, toolCallId: `call_${turn ? `${turn}_` : ""}${n}`, toolName: "refund", input: JSON.stringify(each) }));
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
  async function play(run: string, gated: AskOptions = {}, calls: readonly object[] = ONE, options: ClientOptions = {}, then: readonly object[] = []): Promise<string> {
    made = [];
    const client = server.client({ run, ...options });
    const gate = new MastraGate(client, gated);
    const model = scripted(calls, then);
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

  test("a call that failed is reported as failed", async () => {
    const { told, outcome } = await decided("edit", { arguments: { order: "4711", eur: -1 } });
    assert.deepEqual([made, outcome?.status], [[], "failed"]);
    assert.match(told, /No such amount/);
  });

  test("an edit that the tool cannot take is refused in the console", async () => {
    const run = named();
    const playing = play(run);
    const { id } = await server.pending(run);
    assert.match(await server.refusal(id, { order: "4711" }), /'eur'/);
    await server.decide(id, "reject", { reason: "No." });
    await playing;
  });

  test("what its tools gave goes along with the next call", async () => {
    const run = named();
    await server.allowing(() => play(run, {}, [{ order: "1", eur: 1 }, { order: "1", eur: 2 }], {}, [{ order: "1", eur: 3 }]));
    const given = (await server.given(run)).at(-1)!;
    assert.match(given, /Refunded 1 EUR\.[^]*Refunded 2 EUR\.|Refunded 2 EUR\.[^]*Refunded 1 EUR\./);
  });

  test("what the model's provider runs is asked by nobody", async () => {
    const run = named();
    const client = server.client({ run });
    const gate = new MastraGate(client);
    const search = { type: "provider-defined" as const, id: "ours.web_search" as const, name: "web_search", args: {} };
    const found = { query: "refunds", hits: 3 };
    const model = {
      ...scripted([]),
      async doGenerate({ tools }: { tools?: unknown }) {
        offered = tools;
        const call = { toolCallId: "call_0", toolName: "web_search", providerExecuted: true };
        return {
          content: [
            { ...call, type: "tool-call" as const, input: '{"query": "refunds"}' },
            { ...call, type: "tool-result" as const, result: found },
            { type: "text" as const, text: "Found 3." },
          ],
          finishReason: "stop" as const,
          usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
          warnings: [],
        };
      },
    };
    let offered: unknown;
    const tools = { web_search: search } as unknown as { refund: typeof refund };
    const agent = new Agent({ id: "refunds", name: "refunds", instructions: "Search.", model, tools, hooks: gate.hooks, inputProcessors: [gate] });
    const said = await agent.generate("Search for refunds.");
    assert.match(JSON.stringify(offered), /web_search/);
    assert.match(JSON.stringify(said.toolResults), /"hits":3/);
    assert.deepEqual(await server.held(run), []); // as Mastra 1.71.0 has it
    assert.deepEqual(await server.given(run), []);
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
