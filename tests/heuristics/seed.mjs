// The seeds' own code, run over JSON Lines: one request a line in, one answer a line out.
//
// What stands between the rulers is copied from the seed documents with its types taken off; nothing else is
// changed in it. The rest only feeds it: tags are made from items, and what it would save, schedule or
// execute is written down instead. `now` comes with the request, and days are UTC's.
import readline from 'node:readline';

process.env.TZ = 'UTC';

// ---- seed 000, "Hesitation Score 計算" ---------------------------------------------------------------------

function hesitate(
  response,
  tags,
  errorPatterns
) {
  const signals = [];

  // Signal 1: 絕對性用語（「一定」「不可能」「顯然」「毫無疑問」）但缺乏來源
  const absoluteTerms = response.match(/一定|不可能|顯然|毫無疑問|肯定是|clearly|obviously|definitely|impossible/gi);
  const hasSources = /來源|source|ref:|http/i.test(response);
  if (absoluteTerms && !hasSources) {
    signals.push({
      type: 'absolute-claim',
      detail: `${absoluteTerms.length} absolute claim(s) without source`,
      weight: 20,
    });
  }

  // Signal 2: 跟過去的推理錯誤有結構相似
  if (errorPatterns.length > 0) {
    for (const pattern of errorPatterns) {
      if (pattern.keywords.some(kw => response.toLowerCase().includes(kw.toLowerCase()))) {
        signals.push({
          type: 'error-pattern',
          detail: `matches past error: ${pattern.description}`,
          weight: 30,
        });
        break; // 只記第一個匹配
      }
    }
  }

  // Signal 3: [CHAT] 回覆 Alex 但沒有任何 hedging
  const chatTags = tags.chats;
  if (chatTags.length > 0) {
    const chatText = chatTags.map(c => c.text).join(' ');
    const hasHedge = /我不確定|也許|可能|但我不太肯定|需要確認|我的理解是|not sure|maybe|might|I think/i.test(chatText);
    const isLong = chatText.length > 200;
    if (!hasHedge && isLong) {
      signals.push({
        type: 'no-hedge',
        detail: 'long CHAT response with no hedging language',
        weight: 15,
      });
    }
  }

  // Signal 4: 過度自信偵測 — 結論用語多但推理用語少
  const conclusionTerms = (response.match(/所以|因此|結論|答案是|therefore|conclusion|the answer/gi) || []).length;
  const reasoningTerms = (response.match(/因為|考慮到|另一方面|但是|however|because|on the other hand|alternatively/gi) || []).length;
  if (conclusionTerms > 2 && reasoningTerms < conclusionTerms) {
    signals.push({
      type: 'overconfidence',
      detail: `${conclusionTerms} conclusions vs ${reasoningTerms} reasoning qualifiers`,
      weight: 15,
    });
  }

  // Score 計算
  const score = Math.min(100, signals.reduce((sum, s) => sum + s.weight, 0));
  const threshold = 30; // Phase 1 固定閾值，Phase 2 可調

  return {
    score,
    confident: score < threshold,
    signals,
    suggestion: signals.length > 0
      ? `Hesitation triggered (score=${score}): ${signals.map(s => s.type).join(', ')}`
      : '',
  };
}

// ---- seed 000, "行為調節" ----------------------------------------------------------------------------------

function executeTagsWithCaution(tags, hesitation) {
  // ── [CHAT] 回覆 Alex ──
  if (tags.chats.length > 0 && hesitation.score >= 50) {
    // 高度不確定：hold chat，存為 pending review
    savePendingTag('chat', tags.chats, hesitation);
    tags.chats = []; // 從本次執行中移除
    scheduleShortCycle('2m', 'hesitation review: held CHAT'); // rev.2
  } else if (tags.chats.length > 0 && hesitation.score >= 30) {
    // 中度不確定：正常發送，但追加不確定標記
    for (const chat of tags.chats) {
      chat.text += '\n\n（⚠️ 我對這個回答不太確定，可能需要更多思考）';
    }
  }

  // ── [REMEMBER] 記憶寫入（比 CHAT 更危險）── rev.2
  if (tags.remembers.length > 0 && hesitation.score >= 50) {
    // 高度不確定：hold 記憶，下個 cycle 重審
    savePendingTag('remember', tags.remembers, hesitation);
    tags.remembers = []; // 從本次執行中移除
    scheduleShortCycle('2m', 'hesitation review: held REMEMBER');
  } else if (tags.remembers.length > 0 && hesitation.score >= 30) {
    // 中度不確定：記憶加不確定前綴
    for (const rem of tags.remembers) {
      rem.text = `⚠️ [hesitation score=${hesitation.score}] ${rem.text}`;
    }
  }

  // ── [TASK] 任務建立 ── rev.2
  if (tags.tasks.length > 0 && hesitation.score >= 50) {
    // 高度不確定：hold 任務
    savePendingTag('task', tags.tasks, hesitation);
    tags.tasks = [];
    scheduleShortCycle('2m', 'hesitation review: held TASK');
  } else if (tags.tasks.length > 0 && hesitation.score >= 30) {
    // 中度不確定：建立但標記 needs-review
    for (const task of tags.tasks) {
      task.content = `[needs-review] ${task.content}`;
    }
  }

  // ── [ACTION] 行為記錄 ──
  if (tags.actions.length > 0 && hesitation.signals.length > 0) {
    for (const act of tags.actions) {
      act.content += `\n\nHesitation: ${hesitation.signals.map(s => s.type).join(', ')} (score=${hesitation.score})`;
    }
  }

  // ── [ASK] 不猶豫 —— 問問題本身就是猶豫的表現 ── rev.2

  // 正常執行剩餘 tags
  executeTags(tags);
}

// ---- seed 001, "組件二：Temporal Markers" -------------------------------------------------------------------

function addTemporalMarkers(content) {
  const now = new Date();
  // 匹配 [YYYY-MM-DD] 或 (YYYY-MM-DD) 格式的日期
  return content.replace(/\[(\d{4}-\d{2}-\d{2})\]/g, (match, dateStr) => {
    const date = new Date(dateStr);
    const diffDays = Math.floor((now.getTime() - date.getTime()) / 86400000);
    if (diffDays === 0) return `[${dateStr} ⟨today⟩]`;
    if (diffDays === 1) return `[${dateStr} ⟨yesterday⟩]`;
    if (diffDays <= 7) return `[${dateStr} ⟨${diffDays}d ago⟩]`;
    if (diffDays <= 30) return `[${dateStr} ⟨${Math.ceil(diffDays/7)}w ago⟩]`;
    return `[${dateStr} ⟨${Math.ceil(diffDays/30)}mo ago⟩]`;
  });
}

// ---- seed 001, "組件三：Continuous Intent" ------------------------------------------------------------------

class Loop {
  formatContinuousIntent() {
    if (!this.continuousIntent) return '';
    const { lastMode, lastAction, activeThread, streak, recentModes } = this.continuousIntent;

    const parts = [];
    parts.push(`Last cycle: ${lastMode}${lastAction ? ` — ${lastAction}` : ''}`);

    if (activeThread) {
      parts.push(`Currently pursuing: "${activeThread}"`);
    }

    if (streak && streak.count >= 2) {
      parts.push(`${streak.count} consecutive ${streak.mode} cycles`);
    }

    if (recentModes.length >= 3) {
      const distribution = {};
      for (const m of recentModes) distribution[m] = (distribution[m] || 0) + 1;
      const dominant = Object.entries(distribution).sort((a, b) => b[1] - a[1])[0];
      if (dominant[1] >= 3) {
        parts.push(`Recent pattern: mostly ${dominant[0]} (${dominant[1]}/${recentModes.length})`);
      }
    }

    return `\n\nContinuous intent:\n${parts.join('\n')}`;
  }

  endOfCycle(response, chosenBehavior, action) {
    const activeThread = this.detectActiveThread(response);  // 從回應中解析 thread 引用
    this.continuousIntent = {
      lastMode: this.currentMode === 'task' ? 'task' : (chosenBehavior ?? 'unknown'),
      lastAction: action?.slice(0, 150) ?? null,
      activeThread,
      streak: this.continuousIntent?.streak?.mode === chosenBehavior
        ? { mode: chosenBehavior, count: (this.continuousIntent.streak.count) + 1 }
        : chosenBehavior ? { mode: chosenBehavior, count: 1 } : null,
      recentModes: [...(this.continuousIntent?.recentModes?.slice(-4) ?? []), chosenBehavior ?? this.currentMode],
    };
  }
}

// ---- what feeds it -------------------------------------------------------------------------------------------

let saved, scheduled;
function savePendingTag(_kind, tags) { saved.push(...tags); }
function scheduleShortCycle(interval, reason) { scheduled.push([interval, reason]); }
function executeTags() {}

function score({ response, items, patterns }) {
  saved = []; scheduled = [];
  const tags = { chats: [], remembers: [], tasks: [], actions: [] };
  const lists = { chat: tags.chats, remember: tags.remembers, task: tags.tasks, action: tags.actions };
  const objects = items.map(({ kind, text }) => {
    const tag = kind === 'chat' || kind === 'remember' ? { text } : { content: text };
    lists[kind]?.push(tag);
    return tag;
  });
  const hesitation = hesitate(response, tags, patterns);
  if (!hesitation.confident) executeTagsWithCaution(tags, hesitation);
  return {
    ...hesitation,
    items: objects.map(tag => saved.includes(tag) ? null : tag.text ?? tag.content),
    scheduled,
  };
}

const RealDate = Date;
function markers({ text, now }) {
  globalThis.Date = class extends RealDate {
    constructor(...given) { super(...(given.length ? given : [now])); }
  };
  try { return addTemporalMarkers(text); } finally { globalThis.Date = RealDate; }
}

function intent({ intent, cycle }) {
  const loop = new Loop();
  loop.continuousIntent = intent;
  if (cycle) {
    loop.currentMode = cycle.currentMode;
    loop.detectActiveThread = () => cycle.activeThread;
    loop.endOfCycle('', cycle.chosenBehavior, cycle.action);
  }
  return { intent: loop.continuousIntent, text: loop.formatContinuousIntent() };
}

const answers = { score, markers, intent };
for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { ask, ...request } = JSON.parse(line);
  process.stdout.write(JSON.stringify(answers[ask](request)) + '\n');
}
