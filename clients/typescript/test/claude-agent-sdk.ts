import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, suite, test } from "node:test";
import { createSdkMcpServer, query, tool, type Options } from "@anthropic-ai/claude-agent-sdk";
import { AgentGate, type AgentGateOptions } from "@metacog/client/claude-agent-sdk";
import type { ClientOptions } from "@metacog/client";
import { z } from "zod";
import { metacog, PYTHON, ROOT, type Metacog } from "./metacog.js";

const REFUND = "mcp__till__refund";

interface More {
  client?: ClientOptions;
  options?: Options;
  asks?: boolean;
  url?: string;
}

suite("an agent of the Claude Agent SDK, behind the gate", () => {
  let server: Metacog;
  const models: ChildProcess[] = [];
  let [one, three] = ["", ""]; // addresses of models that use the tool once, and three times at once
  let made: number[];
  before(async () => {
    server = await metacog();
    one = await scripted([900]);
    three = await scripted([1, 2, 3]);
  });
  after(() => models.forEach((each) => each.stdin!.end()));

  /** Start a model that uses the tool turn after turn, with each of a turn's amounts at once. */
  async function scripted(...amounts: number[][]): Promise<string> {
    const turns = amounts.map((turn) => turn.map((eur) => [REFUND, { eur }]));
    const model = spawn(PYTHON, [`${ROOT}clients/testing/models.py`, JSON.stringify(turns)], { stdio: ["pipe", "pipe", "inherit"] });
    models.push(model);
    return String((await createInterface({ input: model.stdout! })[Symbol.asyncIterator]().next()).value);
  }

  /** Have the real Claude Code use a tool, with the gate before it; return the tool's results that the model reads. */
  async function play(run: string, gated: AgentGateOptions = {}, more: More = {}) {
    made = [];
    const client = server.client({ run, ...more.client });
    const gate = new AgentGate(client, { session: run, metadata: { run }, ...gated });
    const refund = tool("refund", "Refund an order.", { eur: z.number() }, async ({ eur }) => {
      if (eur < 0) throw new Error("No such amount.");
      made.push(eur);
      return { content: [{ type: "text", text: `Refunded ${eur} EUR.` }] };
    });
    const home = mkdtempSync(join(tmpdir(), "metacog-agent-"));
    const { PATH = "" } = process.env;
    const options: Options = {
      allowedTools: [REFUND],
      ...more.options,
      ...(more.asks ? { canUseTool: gate.canUseTool } : { hooks: gate.hooks }),
      mcpServers: { till: createSdkMcpServer({ name: "till", tools: [refund] }) },
      env: { PATH, HOME: home, ANTHROPIC_BASE_URL: more.url ?? one, ANTHROPIC_API_KEY: "none", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      cwd: home,
      settingSources: [],
    };
    async function* prompt() {
      yield { type: "user" as const, message: { role: "user" as const, content: "Refund it." }, parent_tool_use_id: null };
    }
    let told = "";
    for await (const message of query({ prompt: prompt(), options })) {
      if (message.type === "user") told += JSON.stringify(message.message.content);
    }
    await client.reported();
    return told;
  }

  const named = () => `agent-${randomUUID()}`;

  async function decided(verdict: "approve" | "edit" | "reject", more: object = {}, settings: More = {}) {
    const run = named();
    const playing = play(run, {}, settings);
    const { id } = await server.pending(run);
    assert.deepEqual(made, []);
    await server.decide(id, verdict, more);
    return { told: await playing, outcome: (await server.held(run))[0]!.outcome };
  }

  test("an approved call is made, and reported", async () => {
    const { outcome } = await decided("approve");
    assert.deepEqual(made, [900]);
    assert.equal(outcome?.status, "done");
  });

  test("an edited call is made as it was edited", async () => {
    await decided("edit", { arguments: { eur: 90 } });
    assert.deepEqual(made, [90]);
  });

  test("an edit that the tool cannot take is refused in the console", async () => {
    const run = named();
    const schema = { type: "object", properties: { eur: { type: "number" } }, required: ["eur"] };
    const playing = play(run, { schemas: { [REFUND]: schema } });
    const { id } = await server.pending(run);
    assert.match(await server.refusal(id, {}), /'eur'/);
    await server.decide(id, "reject", { reason: "No." });
    await playing;
  });

  test("what its tools gave goes along with the next call", async () => {
    const run = named();
    const url = await scripted([1, 2], [3]);
    await server.allowing(() => play(run, {}, { url }));
    const [, second, third] = await server.given(run); // Claude Code makes them one after the other
    assert.match(second!, /Refunded 1 EUR\./);
    assert.match(third!, /Refunded 2 EUR\./);
  });

  test("a call that failed is reported as failed", async () => {
    const { outcome } = await decided("edit", { arguments: { eur: -1 } });
    assert.equal(outcome?.status, "failed");
    assert.match(outcome.detail, /No such amount/);
  });

  test("a rejected call is not made, and the model reads why", async () => {
    const { told } = await decided("reject", { reason: "It was refunded last week." });
    assert.deepEqual(made, []);
    assert.match(told, /It was refunded last week\./);
  });

  test("what expires, or nobody decides in time, is not made", async () => {
    assert.match(await play(named(), { expiresIn: 1 }), /it has expired/);
    assert.match(await play(named(), { deadline: 4 }), /held for review/);
    assert.deepEqual(made, []);
  });

  test("nothing is made while metacog is down, unless the gate says so", async () => {
    await server.order("stop");
    try {
      assert.match(await play(named(), {}, { client: { retrySeconds: 0.2 } }), /could not be asked/);
      assert.deepEqual(made, []);
      await play(named(), { unreachable: "allow" }, { client: { retrySeconds: 0.2 } });
      assert.deepEqual(made, [900]);
    } finally {
      await server.order("start");
    }
  });

  test("of calls at once each has its own decision, also where they come too often", async () => {
    const rules = [{ tool: REFUND, where: { "/eur": { eq: 2 } }, do: "deny" }];
    await server.order(`policy ${JSON.stringify({ rules, default_tool_call: "allow" })}`);
    await server.order("limit 1");
    try {
      await play(named(), {}, { url: three });
    } finally {
      await server.order("limit 1000 1000");
      await server.order(`policy ${JSON.stringify({ rules: [], default_tool_call: "ask" })}`);
    }
    assert.deepEqual(made.sort(), [1, 3]);
  });

  test("an agent that is stopped while it waits has made nothing", async () => {
    const run = named();
    const abortController = new AbortController();
    const playing = play(run, {}, { options: { abortController } });
    const { id } = await server.pending(run);
    abortController.abort();
    await playing.catch(() => undefined);
    await server.decide(id, "approve");
    assert.deepEqual(made, []);
  });

  test("Claude Code's own permissions decide what is not held", async () => {
    await server.order(`policy ${JSON.stringify({ default_tool_call: "allow" })}`);
    try {
      await play(named(), {}, { options: { disallowedTools: [REFUND] } });
      assert.deepEqual(made, []);
      await play(named(), { passed: "allow" }, { options: { allowedTools: [] } });
      assert.deepEqual(made, [900]);
    } finally {
      await server.order(`policy ${JSON.stringify({ default_tool_call: "ask" })}`);
    }
  });

  test("it asks only where Claude Code would ask a person", async () => {
    await decided("edit", { arguments: { eur: 9 } }, { asks: true, options: { allowedTools: [] } });
    assert.deepEqual(made, [9]);
  });
});
