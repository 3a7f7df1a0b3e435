import assert from "node:assert/strict";
import { before, suite, test } from "node:test";
import type { Client, Outcome } from "@metacog/client";
import { ToolGate, type ToolGateOptions, type Waiting } from "@metacog/client/ai";
import { generateText, stepCountIs, streamText, tool, type ModelMessage, type ToolSet } from "ai";
import { MockLanguageModelV3, simulateReadableStream } from "ai/test";
import { z } from "zod";
import { metacog, type Metacog } from "./metacog.js";

type Generated = Awaited<ReturnType<MockLanguageModelV3["doGenerate"]>>;
type Prompt = MockLanguageModelV3["doGenerateCalls"][number]["prompt"];

const USAGE: Generated["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const INPUT = { order: "4711", eur: 900 };
const CALL = { type: "tool-call", toolCallId: "call_1", toolName: "refund", input: JSON.stringify(INPUT) } as const;

const called: Generated = { content: [CALL], finishReason: { unified: "tool-calls", raw: undefined }, usage: USAGE, warnings: [] };
const done: Generated = {
  content: [{ type: "text", text: "Done." }],
  finishReason: { unified: "stop", raw: undefined },
  usage: USAGE,
  warnings: [],
};
const PROMPT: ModelMessage[] = [{ role: "user", content: "Refund order 4711." }];

/** What the model was told of its call: the last part of its last prompt. */
function told(model: MockLanguageModelV3): unknown {
  const prompt: Prompt = model.doGenerateCalls.at(-1)!.prompt;
  const part = prompt.flatMap((each) => (each.role === "tool" ? each.content : [])).at(-1);
  assert.equal(part?.type, "tool-result");
  return part.output;
}

suite("tools of the Vercel AI SDK, behind the gate", () => {
  let server: Metacog;
  let made: unknown[];
  before(async () => void (server = await metacog()));

  const tools = () => ({
    refund: tool({
      description: "Refund an order",
      inputSchema: z.object({ order: z.string(), eur: z.number().max(1000) }),
      execute: async (input) => {
        made.push(input);
        return { refunded: input.eur };
      },
    }),
  });

  /** Have a model call the tool, with the gate before it. */
  async function play(client: Client, options: ToolGateOptions = {}, more: { abortSignal?: AbortSignal } = {}) {
    made = [];
    const model = new MockLanguageModelV3({ doGenerate: [called, done] });
    const gated = new ToolGate(client, options).wrap(tools());
    const result = await generateText({ model, tools: gated, messages: PROMPT, stopWhen: stepCountIs(3), ...more });
    return { model, result };
  }

  test("an approved call is made, and the reviewer sees what it is", async () => {
    const outcomes: Outcome[] = [];
    const client = server.client();
    const playing = play(client, { session: client.run, onOutcome: (outcome) => outcomes.push(outcome) });
    const item = await server.pending(client.run);
    assert.deepEqual([item.name, item.arguments, item.call_id, item.description], ["refund", INPUT, "call_1", "Refund an order"]);
    assert.equal((item.schema as { properties: { eur: { maximum: number } } }).properties.eur.maximum, 1000);
    await server.decide(item.id, "approve");
    const { model, result } = await playing;
    assert.deepEqual([made, told(model), result.text], [[INPUT], { type: "json", value: { refunded: 900 } }, "Done."]);
    assert.deepEqual(outcomes.map((each) => each.verdict), ["approve"]);
    await client.reported();
    const { outcome: became } = (await server.held(client.run))[0]!;
    assert.deepEqual([became?.status, became?.result], ["done", { refunded: 900 }]);
  });

  for (const streams of [false, true]) {
    test(`a call that throws is reported as failed, ${streams ? "streaming" : "plain"}`, async () => {
      const client = server.client();
      const execute = streams
        ? async function* () {
            yield "one moment";
            throw new Error("No such order.");
          }
        : () => Promise.reject(new Error("No such order."));
      const refund = { ...tools().refund, execute } as ToolSet[string];
      const model = new MockLanguageModelV3({ doGenerate: [called, done] });
      const playing = generateText({ model, tools: new ToolGate(client).wrap({ refund }), messages: PROMPT, stopWhen: stepCountIs(3) });
      await server.decide((await server.pending(client.run)).id, "approve");
      await playing;
      await client.reported();
      const { outcome } = (await server.held(client.run))[0]!;
      assert.deepEqual([outcome?.status, outcome?.detail], ["failed", "Error: No such order."]);
    });
  }

  test("an edited call is made with the edited arguments, and the model is told", async () => {
    const client = server.client();
    const playing = play(client);
    await server.decide((await server.pending(client.run)).id, "edit", { arguments: { order: "4711", eur: 90 }, accept_risk: true });
    const { model } = await playing;
    assert.deepEqual(made, [{ order: "4711", eur: 90 }]);
    const output = told(model) as { type: string; value: string };
    assert.match(output.value, /^A reviewer changed this .*"eur":90.*\n.*\{"refunded":90\}$/);
  });

  test("an edit that the tool cannot take is refused in the console", async () => {
    const client = server.client();
    const playing = play(client);
    const { id } = await server.pending(client.run);
    assert.match(await server.refusal(id, { order: "4711" }), /'eur'/);
    await server.decide(id, "reject", { reason: "No." });
    await playing;
  });

  test("what its tools gave goes along with the next call", async () => {
    const client = server.client();
    const calls = [1, 2, 3].map((eur) => ({ ...CALL, toolCallId: `call_${eur}`, input: JSON.stringify({ order: "1", eur }) }));
    const turns = [{ ...called, content: calls.slice(0, 2) }, { ...called, content: calls.slice(2) }, done];
    const model = new MockLanguageModelV3({ doGenerate: turns });
    made = [];
    const gated = new ToolGate(client).wrap(tools());
    await server.allowing(() => generateText({ model, tools: gated, messages: PROMPT, stopWhen: stepCountIs(4) }));
    const given = (await server.given(client.run)).at(-1)!.match(/\[refund\]\nrefunded: \d/g); // in the order in which they ended
    assert.deepEqual(given?.sort(), ["[refund]\nrefunded: 1", "[refund]\nrefunded: 2"]);
  });

  test("what the model's provider runs is asked by nobody", async () => {
    const client = server.client();
    const call = { toolCallId: "call_1", toolName: "web_search", providerExecuted: true };
    const content: Generated["content"] = [
      { ...call, type: "tool-call", input: '{"query": "refunds"}' },
      { ...call, type: "tool-result", result: { hits: 3 } },
      { type: "text", text: "Found 3." },
    ];
    const model = new MockLanguageModelV3({ doGenerate: [{ ...done, content }] });
    const search = { type: "provider", id: "ours.web_search", args: {}, inputSchema: z.object({ query: z.string() }) };
    const gated = new ToolGate(client).wrap({ web_search: search as unknown as ToolSet[string] });
    const result = await generateText({ model, tools: gated, messages: PROMPT });
    assert.match(JSON.stringify(result.toolResults), /"hits":3/);
    assert.deepEqual(await server.held(client.run), []); // as ai 6.0.326 has it
  });

  for (const waiting of ["execute", "approval"] as const) {
    test(`a tool without execute is run by the caller, and asked by nobody, with ${waiting}`, async () => {
      const client = server.client();
      const schemas = { inputSchema: z.object({ order: z.string(), eur: z.number() }), outputSchema: z.object({ refunded: z.number() }) };
      const own = { refund: tool(schemas) };
      const gated = new ToolGate(client).wrap(own, waiting);
      assert.equal(gated.refund, own.refund);
      const model = new MockLanguageModelV3({ doGenerate: [called, done] });
      const begun = await generateText({ model, tools: gated, messages: PROMPT, stopWhen: stepCountIs(3) });
      assert.deepEqual(begun.content.map((part) => part.type), ["tool-call"]); // no result, and no approval is asked for
      const { toolCallId, toolName, input } = begun.toolCalls[0]!;
      assert.deepEqual(input, INPUT);
      const output = { type: "json", value: { refunded: 900 } } as const; // what the caller makes of it
      const answer: ModelMessage = { role: "tool", content: [{ type: "tool-result", toolCallId, toolName, output }] };
      const ended = await generateText({ model, tools: gated, messages: [...PROMPT, ...begun.response.messages, answer] });
      assert.deepEqual([told(model), ended.text], [output, "Done."]);
      assert.deepEqual(await server.given(client.run), []); // nothing was posted, as ai 6.0.326 has it
    });
  }

  test("a rejected call is not made, and the model is told why", async () => {
    const client = server.client();
    const playing = play(client);
    await server.decide((await server.pending(client.run)).id, "reject", { reason: "No receipt." });
    const { model, result } = await playing;
    assert.deepEqual(made, []);
    assert.match(JSON.stringify(told(model)), /"error-text".*rejected this\. Reason: No receipt\./);
    assert.equal(result.text, "Done.");
  });

  test("an expired call, and one that nobody decides in time, are not made", async () => {
    assert.match(JSON.stringify(told((await play(server.client(), { expiresIn: 1 })).model)), /it has expired/);
    assert.deepEqual(made, []);
    assert.match(JSON.stringify(told((await play(server.client(), { deadline: 0 })).model)), /nobody has decided it so far/);
    assert.deepEqual(made, []);
  });

  test("without metacog no call is made, unless it says so", async () => {
    const away = { url: "http://127.0.0.1:2", retrySeconds: 0.1 };
    assert.match(JSON.stringify(told((await play(server.client(away))).model)), /could not be asked/);
    assert.deepEqual(made, []);
    await play(server.client(away), { unreachable: "allow" });
    assert.deepEqual(made, [INPUT]);
  });

  test("beyond the agent's rate the call is made a little later", async () => {
    await server.order("limit 1 1");
    await server.client().ask({ name: "other", arguments: {} });
    const client = server.client();
    const playing = play(client);
    await server.decide((await server.pending(client.run)).id, "approve");
    await playing;
    assert.deepEqual(made, [INPUT]);
    await server.order("limit 1000 1000");
  });

  test("aborted by the SDK, the call is not made", async () => {
    const stop = new AbortController();
    const client = server.client();
    const playing = play(client, {}, { abortSignal: stop.signal }).catch(() => undefined);
    const item = await server.pending(client.run);
    stop.abort();
    await server.decide(item.id, "approve");
    await playing;
    assert.deepEqual(made, []);
  });

  test("a streamed tool streams behind the gate, too", async () => {
    const client = server.client();
    const inputSchema = z.object({ order: z.string(), eur: z.number() });
    const refund = tool({
      inputSchema,
      async *execute({ eur }) {
        yield "working";
        yield `refunded ${eur}`;
      },
    });
    const model = new MockLanguageModelV3({
      doStream: {
        stream: simulateReadableStream({ chunks: [CALL, { type: "finish", finishReason: called.finishReason, usage: USAGE }] }),
      },
    });
    const { fullStream } = streamText({ model, tools: new ToolGate(client).wrap({ refund }), messages: PROMPT });
    const deciding = server.pending(client.run).then((item) => server.decide(item.id, "approve"));
    const outputs: unknown[] = [];
    for await (const part of fullStream) if (part.type === "tool-result") outputs.push([part.output, part.preliminary ?? false]);
    await deciding;
    assert.deepEqual(outputs, [["working", true], ["refunded 900", true], ["refunded 900", false]]);
  });

  test("the input that its schema made is left as it is", async () => {
    const client = server.client();
    let input: unknown;
    const dated: ToolSet = {
      refund: tool({ inputSchema: z.object({ eur: z.number().transform((eur) => new Date(eur)) }), execute: (each) => void (input = each) }),
    };
    const model = new MockLanguageModelV3({ doGenerate: [called] });
    const playing = generateText({ model, tools: new ToolGate(client).wrap(dated), messages: PROMPT });
    await server.decide((await server.pending(client.run)).id, "approve");
    await playing;
    assert.deepEqual(input, { eur: new Date(900) });
  });

  /** Start as one process, decide, go on as another: what is handed over is JSON. */
  async function resume(decide: (held: string) => Promise<void>, waiting: Waiting = "approval") {
    made = [];
    const run = crypto.randomUUID();
    const first = new ToolGate(server.client({ run }));
    const model = new MockLanguageModelV3({ doGenerate: [called] });
    const begun = await generateText({ model, tools: first.wrap(tools(), waiting), messages: PROMPT });
    assert.ok(begun.content.some((part) => part.type === "tool-approval-request"));
    const saved = JSON.stringify([...PROMPT, ...begun.response.messages]);

    const gate = new ToolGate(server.client({ run }));
    const gated = gate.wrap(tools(), waiting);
    const messages = JSON.parse(saved) as ModelMessage[];
    assert.deepEqual(await gate.answers(messages, gated, { deadline: 0 }), []); // nobody has decided
    await decide((await server.pending(run)).id);
    const content = await gate.answers(messages, gated);
    const other = new MockLanguageModelV3({ doGenerate: [done] });
    await generateText({ model: other, tools: gated, messages: [...messages, { role: "tool", content }] });
    assert.equal((await server.held(run)).length, 1);
    return { run, messages, model: other };
  }

  test("by the SDK's approval the program ends while it waits, and another goes on: approved", async () => {
    const { model } = await resume((held) => server.decide(held, "approve"));
    assert.deepEqual([made, told(model)], [[INPUT], { type: "json", value: { refunded: 900 } }]);
  });

  test("by the SDK's approval: edited", async () => {
    const arguments_ = { order: "4711", eur: 90 };
    const { model } = await resume((held) => server.decide(held, "edit", { arguments: arguments_, accept_risk: true }));
    assert.deepEqual(made, [arguments_]);
    assert.match(JSON.stringify(told(model)), /A reviewer changed this/);
  });

  test("by the SDK's approval: rejected", async () => {
    const { model } = await resume((held) => server.decide(held, "reject", { reason: "No receipt." }));
    assert.deepEqual(made, []);
    assert.match(JSON.stringify(told(model)), /"execution-denied".*No receipt\./);
  });

  test("an approval that somebody else gives does not open the gate", async () => {
    made = [];
    const client = server.client();
    const gate = new ToolGate(client, { deadline: 0 });
    const gated = gate.wrap(tools(), "approval");
    const model = new MockLanguageModelV3({ doGenerate: [called, done] });
    const begun = await generateText({ model, tools: gated, messages: PROMPT });
    const request = begun.content.find((part) => part.type === "tool-approval-request");
    assert.ok(request);
    const approved = { type: "tool-approval-response", approvalId: request.approvalId, approved: true } as const;
    const messages: ModelMessage[] = [...PROMPT, ...begun.response.messages, { role: "tool", content: [approved] }];
    await generateText({ model, tools: gated, messages });
    assert.deepEqual(made, []);
    assert.match(JSON.stringify(told(model)), /nobody has decided it so far/);
  });

  test("by the SDK's approval a call that may pass is made at once", async () => {
    made = [];
    await server.order('policy {"rules": [{"tool": "refund", "do": "allow"}]}');
    const model = new MockLanguageModelV3({ doGenerate: [called, done] });
    const gated = new ToolGate(server.client()).wrap(tools(), "approval");
    await generateText({ model, tools: gated, messages: PROMPT, stopWhen: stepCountIs(3) });
    await server.order('policy {"rules": []}');
    assert.deepEqual(made, [INPUT]);
  });
});
