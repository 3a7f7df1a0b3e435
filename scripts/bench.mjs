// The seed's four signals (seed 000, "Hesitation Score 計算") as a contender of scripts/bench.py.
//
// Its code is the seed's with one kindness: letters are made small once a response, and once for all in keywords,
// instead of once a keyword. First line in: {"patterns"}. Each further line: {"texts", "rounds"}; the answer tells
// what the rounds took (CPU and wall, in microseconds) and the sum of the scores, which must be everybody's.
import readline from 'node:readline';

function hesitate(response, chats, patterns) {
  const signals = [];
  const absoluteTerms = response.match(/一定|不可能|顯然|毫無疑問|肯定是|clearly|obviously|definitely|impossible/gi);
  const hasSources = /來源|source|ref:|http/i.test(response);
  if (absoluteTerms && !hasSources) {
    signals.push({ type: 'absolute-claim', detail: `${absoluteTerms.length} absolute claim(s) without source`, weight: 20 });
  }
  if (patterns.length > 0) {
    const small = response.toLowerCase();
    for (const pattern of patterns) {
      if (pattern.keywords.some(keyword => small.includes(keyword))) {
        signals.push({ type: 'error-pattern', detail: `matches past error: ${pattern.description}`, weight: 30 });
        break;
      }
    }
  }
  if (chats.length > 0) {
    const chatText = chats.map(chat => chat.text).join(' ');
    const hasHedge = /我不確定|也許|可能|但我不太肯定|需要確認|我的理解是|not sure|maybe|might|I think/i.test(chatText);
    if (!hasHedge && chatText.length > 200) {
      signals.push({ type: 'no-hedge', detail: 'long CHAT response with no hedging language', weight: 15 });
    }
  }
  const conclusionTerms = (response.match(/所以|因此|結論|答案是|therefore|conclusion|the answer/gi) || []).length;
  const reasoningTerms =
    (response.match(/因為|考慮到|另一方面|但是|however|because|on the other hand|alternatively/gi) || []).length;
  if (conclusionTerms > 2 && reasoningTerms < conclusionTerms) {
    signals.push({
      type: 'overconfidence',
      detail: `${conclusionTerms} conclusions vs ${reasoningTerms} reasoning qualifiers`,
      weight: 15,
    });
  }
  const score = Math.min(100, signals.reduce((sum, signal) => sum + signal.weight, 0));
  return {
    score,
    confident: score < 30,
    signals,
    suggestion: signals.length > 0
      ? `Hesitation triggered (score=${score}): ${signals.map(signal => signal.type).join(', ')}`
      : '',
  };
}

let patterns = null;
for await (const line of readline.createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const asked = JSON.parse(line);
  if (asked.patterns) {
    patterns = asked.patterns.map(({ keywords, description }) => (
      { description, keywords: keywords.map(keyword => keyword.toLowerCase()) }
    ));
    continue;
  }
  // From bytes, as they come over a wire: a string that was sliced from another is slower in V8.
  const given = asked.texts.map(text => Buffer.from(text).toString());
  const bodies = given.map(text => [text, [{ text }]]);
  let scores = 0;
  const cpu = process.cpuUsage(), wall = process.hrtime.bigint();
  for (let round = 0; round < asked.rounds; round++) {
    for (const [text, chats] of bodies) scores += hesitate(text, chats, patterns).score;
  }
  const used = process.cpuUsage(cpu);
  const took = Number(process.hrtime.bigint() - wall) / 1000;
  process.stdout.write(JSON.stringify({ cpu: used.user + used.system, wall: took, scores: scores / asked.rounds }) + '\n');
}
