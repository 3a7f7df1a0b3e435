// What is done alike in Deno and in a browser's page; neither resolves the package's name here.
import { Client, verifyWebhook } from "../dist/index.js";

/** Gate one call, and verify what a webhook would say of it. */
export async function everywhere({ url, apiKey, run, webhook }) {
  const call = { name: "refund", arguments: { order: "4711", eur: 900 }, callId: "call_1" };
  const told = await new Client({ url, apiKey, run, retrySeconds: 60 }).gate(call);
  const { data } = await verifyWebhook(webhook.headers, webhook.body, webhook.secret);
  return { verdict: told.verdict, arguments: told.arguments, webhook: data };
}
