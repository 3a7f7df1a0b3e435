// An agent of the Vercel AI SDK that asks before it refunds, may be killed while it waits, and goes on when it is
// started again. The model is the SDK's mock: put your own in its place. In clients/typescript, with metacog running:
//
//     npm ci --ignore-scripts && npm run build && npx tsc
//     export METACOG_URL=http://127.0.0.1:8000 METACOG_API_KEY=…     # manage.py agent create refunds --team Default --json
//     node build/examples/refund-agent.js                            # ^C while it waits, then the same again
//
// The run has a name of its own, and each refund that was made is reported: without refunds.json it asks about them anew.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { Client } from "@metacog/client";
import { ToolGate } from "@metacog/client/ai";
import { generateText, stepCountIs, tool, type ModelMessage } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { z } from "zod";

const FILE = process.env["STATE_FILE"] ?? "refunds.json";

const client = new Client({ run: "refunds-4711-to-4713", deadline: Infinity });
const held = new Map<string, string>(); // by call: the held item whose outcome is reported

interface State {
  messages: ModelMessage[];
}

function save(state: State): void {
  writeFileSync(`${FILE}.new`, JSON.stringify(state, null, 2));
  renameSync(`${FILE}.new`, FILE); // whole, or not at all
}

const model = new MockLanguageModelV3({
  doGenerate: async ({ prompt }) => {
    const isDone = prompt.some((message) => message.role === "tool");
    const usage = { inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 0, text: 0, reasoning: 0 } };
    const wanted = [{ order: "4711", eur: 20 }, { order: "4712", eur: 900 }, { order: "4713", eur: 35.5 }];
    const calls = wanted.map((input, number) => ({ type: "tool-call" as const, toolCallId: `call_${number}`, toolName: "refund", input: JSON.stringify(input) }));
    if (isDone) return { content: [{ type: "text", text: "All that may be refunded is." }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
    return { content: calls, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
  },
});

const refund = tool({
  description: "Refund an order",
  inputSchema: z.object({ order: z.string(), eur: z.number().positive().max(1000) }),
  execute: async ({ order, eur }, { toolCallId }) => {
    console.log(`${toolCallId}: refunding ${eur} EUR for order ${order}`); // a bank would take toolCallId, to pay once
    const item = held.get(toolCallId);
    if (item) await client.report(item, "done", { result: { refunded: eur } });
    return { refunded: eur };
  },
});

const isResumed = existsSync(FILE);
const state: State = isResumed
  ? (JSON.parse(readFileSync(FILE, "utf8")) as State)
  : { messages: [{ role: "user", content: "Refund what is due." }] };
const gate = new ToolGate(client, { onOutcome: (told, call) => void (told.held && held.set(call.callId!, told.held)) });
const tools = gate.wrap({ refund }, "approval");
let text = "";
while (text === "") {
  const content = await gate.answers(state.messages, tools); // waits for people; none at first
  if (content.length) state.messages.push({ role: "tool", content });
  const result = await generateText({ model, tools, messages: state.messages, stopWhen: stepCountIs(5) });
  state.messages.push(...result.response.messages);
  save(state);
  const waiting = result.content.filter((part) => part.type === "tool-approval-request").length;
  if (waiting) console.log(`${waiting} calls are held: ${process.env["METACOG_URL"]}/queue/`);
  text = result.text;
}
console.log(text);
