// Made by scripts/types.mjs from /api/v1/openapi.json; not edited by hand.

export interface components {
    schemas: {
        /** @description How many people have approved an item that named people must approve, and how many must. */
        Approvals: {
            /** @description The user names of who approved; null where the team does not let agents know them. */
            by: string[] | null;
            given: number;
            /** @description Of members, in which they must be. */
            group: string | null;
            needed: number;
            /** @description That they must have, or one above it. */
            role: ("reviewer" | "curator" | "owner") | null;
        };
        /** @description The answer to a posted response. Null: not built, or switched off for the agent. */
        Assessment: {
            confidence: components["schemas"]["ConfidencePart"] | null;
            engine: string;
            events: string[];
            /** @description `language-unread`: `response`, or the text of an item, is in a language that no rule reads, so that the score says nothing about it; the item has the flag, too. The others say why an opening tag in `response` gave no item of its own: it stands in code, or within another of its kind; or that it was never closed, so that its item runs to the end. Sorted; none of tags where items were sent. */
            flags?: ("language-unread" | "tag-in-code" | "tag-nested" | "tag-unclosed")[];
            hesitation: components["schemas"]["HesitationPart"] | null;
            /** @description Null only where there is no database (the command line). */
            id: string | null;
            items: components["schemas"]["ItemPart"][];
            /** @description The version of the policy that was applied. */
            policy: number | null;
            /** @enum {string} */
            profile: "seed" | "aware";
            quality: components["schemas"]["QualityPart"] | null;
            /** @description The model of the items' learned risk. */
            risk_model?: string;
            schedule: components["schemas"]["SchedulePart"] | null;
            stuck: components["schemas"]["StuckPart"] | null;
            /** @description Null: the response has nothing to do with thought threads, or has no database. */
            threads?: components["schemas"]["ThreadPart"][] | null;
        };
        /** @description Another memory that cannot hold beside this one, as it seems; a person decides which of them stands. */
        Clash: {
            /** @description 0 to 1: how alike the rest of the two sentences is. */
            confidence: number;
            id: string;
            /** @description Null unless it is confirmed. */
            text: string | null;
            /** @enum {string} */
            type: "negation" | "antonym" | "number" | "value" | "retraction";
        };
        /** @description How much is known about the subject, as a sentence for the prompt. */
        ConfidencePart: {
            /** @enum {string} */
            level: "high" | "medium" | "low";
            prompt: string;
            reason: string;
            score: number;
        };
        /** @description What the next cycle should read. Null: there is nothing to say. */
        Context: {
            articles: {
                [key: string]: unknown;
            }[] | null;
            confidence: components["schemas"]["ConfidencePart"] | null;
            /** @description Decisions released since you last heard, oldest first; told until the response you post next. */
            decided: components["schemas"]["Told"][];
            decided_more: components["schemas"]["LeftOut"] | null;
            /** @description Answers not told yet, then pending requests. */
            extensions: {
                [key: string]: unknown;
            }[] | null;
            extensions_more: boolean;
            /** @description The one due for review first. Words are whole. Of a tool call `text` has the first 2,000 characters of its arguments; `arguments` is null where that is not all, `schema` always. `GET /held/{id}` has it whole. */
            held: components["schemas"]["Held"][];
            /** @description Held items there was no room for. */
            held_more: string[];
            instructions: string | null;
            intent: {
                [key: string]: string;
            };
            lessons: {
                [key: string]: unknown;
            } | null;
            /** @description What your team remembers of your topics, oldest first. */
            memory: {
                [key: string]: unknown;
            } | null;
            /** @description What the suggestion is about. */
            signals: components["schemas"]["Reason"][] | null;
            suggestion: string | null;
            think_twice: {
                [key: string]: unknown;
            }[] | null;
            thread_suggestion: {
                [key: string]: unknown;
            } | null;
            threads: {
                [key: string]: unknown;
            } | null;
        };
        /** @description A decision. */
        Decided: {
            /** @description What a person answered to a question. */
            answer: components["schemas"]["JsonValue"];
            /** @description Of a tool call: what it was released with, in place of `text`. */
            arguments: components["schemas"]["JsonValue"];
            /** @enum {string} */
            by: "person" | "agent" | "system";
            decided_at: string;
            /** @description The person's user name, where the team lets agents know it. */
            decided_by?: string | null;
            held: string;
            id: string;
            /** @description The response's and the item's own. */
            metadata: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @description Of a tool call: what its agent reported, once. */
            outcome: components["schemas"]["Outcome"] | null;
            /** @description Of a released tool call. `given`: make it now; told once of a call without `call_id`, of one with it until its outcome is reported. `post`: it was asked for under several ids; post it again, and the first one passes. `used`: do not make it for this approval again. */
            permission: ("given" | "post" | "used") | null;
            /** @description Of the changed policy that decided what waited. */
            policy_version?: number | null;
            reason: string;
            /** @description The agent's own count, without gaps. */
            seq: number;
            /** @description Of the team's changed rules that did. */
            team_rules_version?: number | null;
            /** @description What may be used now; null unless something was released. */
            text: string | null;
            /** @description When the approval was used up; not by this answer. */
            used_at: string | null;
            /** @enum {string} */
            verdict: "approve" | "edit" | "answer" | "reject" | "withdraw" | "expire";
        };
        DecidedPage: {
            items: components["schemas"]["Decided"][];
            next: string | null;
        };
        /** @description One thing that a tool call would do. */
        EffectPart: {
            /** @description JSON Pointer to the argument that it was read from. */
            argument: string;
            /** @description A fact worth saying, such as `no WHERE`. */
            detail?: string;
            /** @enum {string} */
            effect: "read" | "write" | "delete" | "execute" | "fetch" | "send" | "install" | "publish" | "privilege" | "secret" | "pay" | "irreversible" | "unknown";
            end: number | null;
            /** @description Of a path: whether it is in the workspace. */
            inside: boolean | null;
            /** @description What it would do it to; a path is normalized. */
            object: string | null;
            /**
             * @description What kind of thing the object is.
             * @enum {string}
             */
            of?: "path" | "url" | "host" | "address" | "amount" | "table" | "package" | "program" | "ref" | "name";
            /** @description Where it stands: Unicode code points of the argument. */
            start: number | null;
        };
        /** @description The parts of the quality score, each from 0 to 1. Null: there was nothing to judge it by. */
        EvaluationPart: {
            completeness: number | null;
            consistency: number;
            length_ok: boolean;
            repetition: boolean;
            responsiveness: number | null;
        };
        /** @description One thing about the quality of a text: what, and where. */
        FlagPart: {
            detail: string;
            flag: string;
            spans: components["schemas"]["FlagSpanPart"][];
        };
        /** @description Where it stands: Unicode code points, end exclusive, into `response` unless `in` says otherwise. */
        FlagSpanPart: {
            end: number;
            in?: "user_message" | null;
            start: number;
            text: string;
        };
        /** @description A memory that was found. */
        Found: {
            /** @enum {string} */
            by: "agent" | "person";
            /** @description 0 to 1, as its author says. */
            confidence: number | null;
            confirmed_by: ("person" | "rule") | null;
            contradicts: components["schemas"]["Clash"][];
            created_at: string;
            /** @description The score when it was posted, 0 to 100. */
            hesitation: number | null;
            id: string;
            /** @description What of the query it holds, as it is written there. */
            matched: string[];
            /** @description When it was said: of two that contradict each other the older said it first. */
            occurred_at: string;
            /** @description The response in which it was a REMEMBER. */
            response: string | null;
            /** @description Orders the answers to one query; says nothing beyond it. */
            score: number;
            /** @description 0 to 1: how much of the weight of what was asked is in it. */
            share: number;
            source: string;
            /**
             * @description `confirmed` answers every agent of the team; `pending` answers nobody until a person confirms it.
             * @enum {string}
             */
            state: "pending" | "confirmed" | "retired";
            text: string;
            topic: string;
            /** @description Why it waits; empty unless it does. */
            why: components["schemas"]["Reason"][];
        };
        /** @description A held item. */
        Held: {
            /** @description The tool's MCP annotations, as they were sent. */
            annotations?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @description Null: any one reviewer may approve it. */
            approvals: components["schemas"]["Approvals"] | null;
            arguments?: components["schemas"]["JsonValue"];
            /**
             * @description How often the same call or question was posted while it waits.
             * @default 1
             */
            asks?: number;
            /** @description This and what follows: of tool calls only, but for `asks`. */
            call_id?: string | null;
            /** @description Of a question: the answers to choose from. */
            choices?: string[] | null;
            /** @description Null until it is released. */
            decision: components["schemas"]["Decided"] | null;
            /** @default  */
            description?: string;
            /**
             * @description What it would do, in order of place.
             * @default []
             */
            effects?: components["schemas"]["EffectPart"][];
            expires_at: string;
            held_at: string;
            /** @description Null: nothing was scored. */
            hesitation: {
                [key: string]: unknown;
            } | null;
            id: string;
            index: number;
            kind: string;
            /** @description The response's and the item's own. */
            metadata: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /** @default  */
            name?: string;
            /** @description What became of it, as its agent reported. */
            outcome?: components["schemas"]["Outcome"] | null;
            /**
             * @description Whether all of it could be read: no effect is `unknown`.
             * @default false
             */
            readable?: boolean;
            response: string;
            review_due_at: string;
            /** @description That asked; null: the policy's default or the agent. */
            rule?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @description Of a question: what its answer must meet. Of a tool call: what edits must. */
            schema?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description Its schema has more than 64 KiB, so it was left out: arguments and edits are not checked by it.
             * @default false
             */
            schema_omitted?: boolean;
            /** @description Of the text as UTF-8. */
            sha256: string;
            /** @enum {string} */
            state: "pending" | "approved" | "edited" | "answered" | "rejected" | "withdrawn" | "expired";
            /** @description The item's whole text; of a tool call its name and canonical arguments. */
            text: string;
            version: number;
            /** @description Held tool calls of the same response. The item goes out once all are approved, and is rejected by the system where one is not. */
            waits_for: string[];
        };
        HeldPage: {
            items: components["schemas"]["Held"][];
            /** @description Put it into `after` for the next page; null on the last. */
            next: string | null;
        };
        /** @description How much in the text is worth a second look, 0 to 100. Not a probability of error. */
        HesitationPart: {
            /** @description score < threshold */
            confident: boolean;
            hold_at: number;
            matched_pattern_ids: string[];
            score: number;
            signals: components["schemas"]["SignalPart"][];
            suggestion: string;
            threshold: number;
        };
        /** @description One thing the response wants said, remembered or done. */
        ItemBody: {
            /**
             * @description The tag's attributes. A value that is no string is kept as its JSON.
             * @default null
             */
            attributes?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description Seconds until it expires undecided, at most the policy's `expiry_seconds`.
             * @default null
             */
            expires_in?: number | null;
            /** @description chat, remember, task, action, ask, schedule or thread, in any case; another kind passes. */
            kind: string;
            /**
             * @description What comes back with whatever is told of it: at most 4,096 bytes of JSON.
             * @default null
             */
            metadata?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description True: hold it for a person, whatever the rules and the heuristics say.
             * @default null
             */
            require_review?: boolean | null;
            /** @description What is said, remembered, asked for or done. */
            text: string;
        };
        /** @description What to do with one item. */
        ItemPart: {
            arguments?: components["schemas"]["JsonValue"];
            /** @description True: the review budget alone held it. */
            by_budget?: boolean;
            call_id?: string | null;
            /** @description True: its tool's description or schema is another than when it was allowed, so a person is asked. */
            definition_changed?: boolean;
            /** @enum {string} */
            disposition: "hold" | "mark" | "note" | "pass" | "reject";
            /** @description What it would do, in order of place. */
            effects?: components["schemas"]["EffectPart"][];
            /** @description Why the rule could not be checked, so that the call is held. */
            fault?: string;
            flags: string[];
            /** @description The grant that let the call pass. */
            grant?: string;
            /** @description The held item's id. */
            held: string | null;
            /** @description Of a call that a rule had scored. */
            hesitation?: components["schemas"]["HesitationPart"];
            index: number;
            /** @description Case-folded. */
            kind: string;
            /** @description Of a `remember`: whether it is in the team's memory, or waits there for a curator. Null: neither. */
            memory?: ("stored" | "waiting") | null;
            name?: string;
            /** @description True: held because the agent is paused. */
            paused?: boolean;
            /** @description Whether all of it could be read: no effect is `unknown`. */
            readable?: boolean;
            /** @description The held item whose approved text this is. */
            recognised: string | null;
            review_url: string | null;
            /** @description Its learned risk: an order, no probability unless it is calibrated. */
            risk?: number;
            /** @description The rule that decided; null: the default did. */
            rule?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @description What to use instead of the item's text; null while it is held. */
            text: string | null;
            /** @description Of words that are held with the tool calls of their response: the held items of these. They go out once all are approved, and are rejected where one is not. Null: there is no database. */
            waits_for?: string[] | null;
            /** @description True: nothing but these tool calls held it. */
            with_calls?: boolean;
        };
        JsonValue: unknown;
        /** @description Older decisions that a context had no room for. */
        LeftOut: {
            /** @description `GET /decisions?after=` this has all of them. */
            after: number;
            count: number;
        };
        /** @description Something to remember. */
        MemoryBody: {
            /**
             * @description How sure you are of it.
             * @default null
             */
            confidence?: number | null;
            /**
             * @description When it was said; without it, and ahead of the clock, now.
             * @default null
             */
            occurred_at?: string | null;
            /**
             * @description Where you have it from.
             * @default
             */
            source?: string;
            text: string;
            /** @default  */
            topic?: string;
        };
        MemoryPage: {
            items: (components["schemas"]["Found"] | components["schemas"]["Remembered"])[];
            next: string | null;
        };
        /** @description What became of an approved tool call, as its agent reported it. */
        Outcome: {
            detail: string;
            reported_at: string;
            result: components["schemas"]["JsonValue"];
            /** @enum {string} */
            status: "done" | "failed" | "skipped";
        };
        /** @description An error (RFC 9457). */
        ProblemDocument: {
            detail: string;
            /** @description Each with a JSON Pointer `pointer` and a `detail`. */
            errors: {
                [key: string]: string;
            }[];
            status: number;
            title: string;
            type: string;
        };
        /** @description How well the text answers, 0 to 1, more is better. Never touches items. */
        QualityPart: {
            details: components["schemas"]["FlagPart"][];
            evaluation: components["schemas"]["EvaluationPart"];
            flags: string[];
            hedge_prefix: string | null;
            passed: boolean;
            score: number;
        };
        /** @description A question to a person: always held, and answered in the console, by mail or by API. */
        QuestionBody: {
            /**
             * @description The tag's attributes. A value that is no string is kept as its JSON.
             * @default null
             */
            attributes?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description The answers to choose from, each once. Without them and a `schema` the answer is any text.
             * @default null
             */
            choices?: string[] | null;
            /**
             * @description Seconds until it expires undecided, at most the policy's `expiry_seconds`.
             * @default null
             */
            expires_in?: number | null;
            /** @description question, in any case. */
            kind: string;
            /**
             * @description What comes back with whatever is told of it: at most 4,096 bytes of JSON.
             * @default null
             */
            metadata?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description True: hold it for a person, whatever the rules and the heuristics say.
             * @default null
             */
            require_review?: boolean | null;
            /**
             * @description The JSON Schema that the answer must meet, at most 65,536 bytes. People get a form made of it.
             * @default null
             */
            schema?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @description What is asked. */
            text: string;
        };
        /** @description One reason why a memory waits for a curator. */
        Reason: {
            detail: string;
            /** @enum {string} */
            type: "score" | "error-pattern" | "contradiction" | "many";
        };
        /** @description A memory of the team. */
        Remembered: {
            /** @enum {string} */
            by: "agent" | "person";
            /** @description 0 to 1, as its author says. */
            confidence: number | null;
            confirmed_by: ("person" | "rule") | null;
            contradicts: components["schemas"]["Clash"][];
            created_at: string;
            /** @description The score when it was posted, 0 to 100. */
            hesitation: number | null;
            id: string;
            /** @description When it was said: of two that contradict each other the older said it first. */
            occurred_at: string;
            /** @description The response in which it was a REMEMBER. */
            response: string | null;
            source: string;
            /**
             * @description `confirmed` answers every agent of the team; `pending` answers nobody until a person confirms it.
             * @enum {string}
             */
            state: "pending" | "confirmed" | "retired";
            text: string;
            topic: string;
            /** @description Why it waits; empty unless it does. */
            why: components["schemas"]["Reason"][];
        };
        /**
         * @description A response as an agent posts it; only `response` is required.
         * @example {
         *       "action": "read the cache module",
         *       "approach": "bump the timeout",
         *       "command": "pytest -x",
         *       "command_failed": true,
         *       "command_output": "1 failed",
         *       "context_used": 0.83,
         *       "cycle": 42,
         *       "errors": [
         *         "TimeoutError: 30 s"
         *       ],
         *       "id": "0190b6d2-7c1e-7a3b-9f40-2b1c6d5e8f90",
         *       "items": [
         *         {
         *           "attributes": {
         *             "reply": "true"
         *           },
         *           "kind": "chat",
         *           "text": "It is fixed."
         *         }
         *       ],
         *       "last_commit_at": "2026-02-16T07:12:00Z",
         *       "metadata": {
         *         "run": "r-12"
         *       },
         *       "mode": "learn-personal",
         *       "occurred_at": "2026-02-16T08:00:00Z",
         *       "outcome": null,
         *       "problem": "bug-17",
         *       "replies_to_held": null,
         *       "response": "The bug is clearly in the cache. <kuro:chat reply=\"true\">It is fixed.</kuro:chat>",
         *       "retrieval": {
         *         "facts": 3,
         *         "identity_covered": true,
         *         "scores": [
         *           0.91,
         *           0.4
         *         ],
         *         "topic_mentions": 7
         *       },
         *       "session": "s1",
         *       "tests": {
         *         "failed": 2,
         *         "passed": 40
         *       },
         *       "thread": "constraint-and-emergence",
         *       "topics": [
         *         "constraints"
         *       ],
         *       "user_message": "Why does the test fail?"
         *     }
         */
        ResponseBody: {
            /**
             * @description What was done, in a line.
             * @default null
             */
            action?: string | null;
            /**
             * @description How it tries to solve the problem, in a line.
             * @default null
             */
            approach?: string | null;
            /**
             * @description The command that was run.
             * @default null
             */
            command?: string | null;
            /**
             * @description Whether the command failed.
             * @default null
             */
            command_failed?: boolean | null;
            /**
             * @description What the command printed.
             * @default null
             */
            command_output?: string | null;
            /**
             * @description The share of the context window in use, 0 to 1.
             * @default null
             */
            context_used?: number | null;
            /**
             * @description The agent's own count of its turns.
             * @default null
             */
            cycle?: number | null;
            /**
             * @description Errors met in this turn.
             * @default null
             */
            errors?: string[] | null;
            /**
             * @description The idempotency key where no header gives one: a UUID; it must never recur.
             * @default null
             */
            id?: string | null;
            /**
             * @description What the response wants done. [] means nothing; null: tags are parsed from `response`.
             * @default null
             */
            items?: (components["schemas"]["ItemBody"] | components["schemas"]["ToolCallBody"] | components["schemas"]["QuestionBody"])[] | null;
            /**
             * @description When something was last committed.
             * @default null
             */
            last_commit_at?: string | null;
            /**
             * @description What comes back with whatever is told of it: at most 4,096 bytes of JSON.
             * @default null
             */
            metadata?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description The behaviour the agent chose for this turn.
             * @default null
             */
            mode?: string | null;
            /**
             * @description When the response was made.
             * @default null
             */
            occurred_at?: string | null;
            /**
             * @description How the problem ended; null while it goes on.
             * @default null
             */
            outcome?: ("resolved" | "failed") | null;
            /**
             * @description The problem it works on, for the stuck counters.
             * @default null
             */
            problem?: string | null;
            /**
             * @description The held item this response looks at again.
             * @default null
             */
            replies_to_held?: string | null;
            /** @description The agent's whole text; may be empty. */
            response: string;
            /**
             * @description What memory was found.
             * @default null
             */
            retrieval?: components["schemas"]["RetrievalBody"] | null;
            /**
             * @description The conversation this belongs to: what was said, given and tried before counts within it. Without one it continues none.
             * @default null
             */
            session?: string | null;
            /**
             * @description How the tests stand.
             * @default null
             */
            tests?: components["schemas"]["TestsBody"] | null;
            /**
             * @description The slug of the thought thread it pursues.
             * @default null
             */
            thread?: string | null;
            /**
             * @description What it is about.
             * @default null
             */
            topics?: string[] | null;
            /**
             * @description The user's message that the response answers.
             * @default null
             */
            user_message?: string | null;
        };
        /** @description What the agent's memory gave for this response. */
        RetrievalBody: {
            /** @default null */
            facts?: number | null;
            /** @default null */
            identity_covered?: boolean | null;
            /**
             * @description Each from 0 to 1.
             * @default null
             */
            scores?: number[] | null;
            /** @default null */
            topic_mentions?: number | null;
        };
        /** @description When the agent's next cycle should come, since something was held. */
        SchedulePart: {
            /** @example 2m */
            next: string;
            /** @example hesitation review: held CHAT, REMEMBER */
            reason: string;
        };
        /** @description An agent's decision about its own held item. */
        SecondLook: {
            /**
             * @description To a question, which only a person answers.
             * @default null
             */
            answer?: components["schemas"]["JsonValue"];
            /**
             * @description Of a tool call, which only a person approves or edits.
             * @default null
             */
            arguments?: components["schemas"]["JsonValue"];
            /**
             * @description Why; needed to approve or edit.
             * @default
             */
            reason?: string;
            /**
             * @description Of the text as you read it.
             * @default null
             */
            sha256?: string | null;
            /**
             * @description The edited text; with `edit` only.
             * @default null
             */
            text?: string | null;
            /** @enum {string} */
            verdict: "approve" | "edit" | "answer" | "reject" | "withdraw";
            /**
             * @description Of the item as you read it.
             * @default null
             */
            version?: number | null;
        };
        /** @description One reason to hesitate. */
        SignalPart: {
            detail: string;
            /** @description At most 256. */
            spans: components["schemas"]["SpanPart"][];
            /** @enum {string} */
            type: "absolute-claim" | "error-pattern" | "no-hedge" | "overconfidence" | "no-source" | "wrong-sum" | "hidden-text" | "done-while-failing";
            /** @description 0: a hint, which adds nothing to the score. */
            weight: number;
        };
        /** @description Where the evidence stands: Unicode code points, end exclusive. */
        SpanPart: {
            end: number;
            /** @description The item in whose text it stands; without it, in `response`. */
            item?: number | null;
            start: number;
            text: string;
        };
        /** @description How stuck the work on a problem looks, in points. */
        StuckPart: {
            /** @description A person has said yes. */
            invoke: boolean;
            points: number;
            problem: string;
            prompt: string;
            signals: components["schemas"]["StuckSignalPart"][];
            /** @description Ask whether to think twice; stays true until somebody answers. */
            suggest: boolean;
            threshold: number;
        };
        /** @description One sign of being stuck, counted once until the problem is resolved. */
        StuckSignalPart: {
            detail: string;
            /** @description What was seen, and in which step of the problem. */
            evidence: {
                [key: string]: unknown;
            };
            type: string;
            weight: number;
        };
        /** @description How the tests stood after this response. */
        TestsBody: {
            failed: number;
            passed: number;
        };
        /** @description What became of a step that the response wanted with a thought thread, or that it was counted as a touch. */
        ThreadPart: {
            /** @description What a touch was recognised by. */
            by: ("field" | "name" | "words") | null;
            done: boolean;
            /** @description The item that wanted it; null for a touch. */
            item: number | null;
            /** @description create, progress, pause, resume or resolve, else as the tag had it; touch. */
            op: string;
            /** @description Why it was not done. */
            reason: string | null;
            /** @description What it was recognised by. */
            spans: components["schemas"]["SpanPart"][];
            /** @description After it; null when it was not done. */
            state: ("active" | "paused" | "resolved") | null;
            /** @description The thread's slug. */
            thread: string;
            touches: number | null;
        };
        /** @description A decision as the next cycle hears of it. */
        Told: {
            /** @enum {string} */
            by: "person" | "agent" | "system";
            decided_at: string;
            /** @description How the item's own text began. Released only where the verdict is `approve`. */
            excerpt: string;
            held: string;
            id: string;
            kind: string;
            /** @description As in a decision. */
            permission: ("given" | "post" | "used") | null;
            reason: string;
            seq: number;
            /** @description Of an edit: what was released in place of yours. Of an answer: its JSON, as text. */
            text: string | null;
            /** @enum {string} */
            verdict: "approve" | "edit" | "answer" | "reject" | "withdraw" | "expire";
        };
        /** @description An action of the agent's framework, before it is done. */
        ToolCallBody: {
            /**
             * @description The tool's MCP annotations, such as `destructiveHint`: at most 4,096 bytes of JSON. They allow nothing, unless the policy trusts the tool's server.
             * @default null
             */
            annotations?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @description What it is called with: any JSON. */
            arguments: components["schemas"]["JsonValue"];
            /**
             * @description The framework's own id of this call.
             * @default null
             */
            call_id?: string | null;
            /**
             * @description What the call is for, in words for whoever decides.
             * @default null
             */
            description?: string | null;
            /**
             * @description Seconds until it expires undecided, at most the policy's `expiry_seconds`.
             * @default null
             */
            expires_in?: number | null;
            /** @description tool_call, in any case. */
            kind: string;
            /**
             * @description What comes back with whatever is told of it: at most 4,096 bytes of JSON.
             * @default null
             */
            metadata?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /** @description The tool's name. */
            name: string;
            /**
             * @description True: hold it for a person, whatever the rules and the heuristics say.
             * @default null
             */
            require_review?: boolean | null;
            /**
             * @description The JSON Schema that an edit of the arguments must meet. One of more than 65,536 bytes is left out, and the held item says that it is not checked by it.
             * @default null
             */
            schema?: {
                [key: string]: components["schemas"]["JsonValue"];
            } | null;
            /**
             * @description True: there is a schema, and it is too large to be sent.
             * @default null
             */
            schema_omitted?: boolean | null;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
