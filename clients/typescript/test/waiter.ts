// A process that gates one call and prints what came of it: node waiter.js RUN
import { Client } from "@metacog/client";

const told = await new Client({ run: process.argv[2] }).gate({ name: "refund", arguments: { eur: 900 }, callId: "call_1" });
console.log(JSON.stringify(told));
