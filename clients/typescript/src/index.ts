export { Client, type AskOptions, type Cancellable, type ClientOptions, type GateOptions, type QuestionOptions } from "./client.js";
export { BadSignature, MetacogError, NotAnswered, NotConfigured, Refused, SpoolFull, Unreachable } from "./errors.js";
export type { Asked, Outcome, OutcomeVerdict, Text, ToolCall } from "./gating.js";
export type { SpoolStore } from "./spool.js";
export { isDecision, verifyWebhook, type Webhook } from "./webhook.js";
export type {
  Assessment,
  CallOutcome,
  Context,
  Decision,
  DecisionPage,
  Held,
  HeldPage,
  ItemBody,
  ItemPart,
  Json,
  Memory,
  MemoryPage,
  ResponseBody,
  ToolCallBody,
} from "./types.js";
