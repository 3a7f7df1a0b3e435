import { BadSignature } from "./errors.js";
import type { Decision } from "./types.js";

const TOLERANCE = 300;

/** A webhook that metacog sent. `id` stays the same when it is sent again: process each once. */
export interface Webhook {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  /** A `Decision` where `type` is `item.decided` or `item.expired`. */
  readonly data: unknown;
}

/** Tell whether a webhook is about a decision. */
export function isDecision(webhook: Webhook): webhook is Webhook & { readonly data: Decision } {
  return webhook.type === "item.decided" || webhook.type === "item.expired";
}

type Headers_ = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;

/**
 * Return what a signed webhook says (Standard Webhooks, by WebCrypto), or throw `BadSignature`.
 *
 * `body` is what came, before it was parsed. Any of the secrets may have signed: two are live while one is rotated.
 * The time that it was signed may be five minutes away from `at`, in milliseconds as `Date.now()`.
 */
export async function verifyWebhook(
  headers: Headers_,
  body: string | Uint8Array,
  secrets: string | readonly string[],
  at: number = Date.now(),
): Promise<Webhook> {
  const id = header(headers, "webhook-id");
  const timestamp = header(headers, "webhook-timestamp");
  const signatures = header(headers, "webhook-signature");
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(at / 1000 - Number(timestamp)) > TOLERANCE) {
    throw new BadSignature("The webhook was not signed within the last five minutes.");
  }
  const raw = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const signed = joined(new TextEncoder().encode(`${id}.${timestamp}.`), raw);
  const given = signatures.split(" ").flatMap((each) => (each.startsWith("v1,") ? [bytes(each.slice(3))] : []));
  for (const secret of typeof secrets === "string" ? [secrets] : secrets) {
    const material = bytes(secret.replace(/^whsec_/, ""));
    if (material === null || material.length === 0) {
      throw new BadSignature("A secret is not as metacog gives them: whsec_ and Base64.");
    }
    const key = await crypto.subtle.importKey("raw", material, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const each of given) {
      // `verify` compares in constant time.
      if (each !== null && (await crypto.subtle.verify("HMAC", key, each, signed))) {
        const said = JSON.parse(new TextDecoder().decode(raw)) as Omit<Webhook, "id">;
        return { id, type: said.type, timestamp: said.timestamp, data: said.data };
      }
    }
  }
  throw new BadSignature("None of the secrets signed this webhook.");
}

function header(headers: Headers_, name: string): string {
  const found =
    headers instanceof Headers
      ? headers.get(name)
      : Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1];
  if (typeof found !== "string" || found === "") throw new BadSignature(`The header ${name} is missing.`);
  return found;
}

function joined(one: Uint8Array, two: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + two.length);
  both.set(one);
  both.set(two, one.length);
  return both;
}

function bytes(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  } catch {
    return null;
  }
}
