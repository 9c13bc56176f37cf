/** A line of the prompt as words: separated by blanks, quoted as in redis-cli. */

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", a: "\x07" };

/** Returns the words of a line. Bytes that are not UTF-8 become base64. Throws if a quote does not end. */
export function splitWords(line: string): (string | { base64: string })[] {
  const words: (string | { base64: string })[] = [];
  const pattern =
    /\s*(?:"((?:[^"\\]|\\[\s\S])*)"(?=\s|$)|'((?:[^'\\]|\\[\s\S])*)'(?=\s|$)|([^\s"']\S*)|(\S))/gy;
  for (let found = pattern.exec(line); found !== null; found = pattern.exec(line)) {
    const [, double, single, plain] = found;
    if (double !== undefined) words.push(unescaped(double));
    else if (single !== undefined) words.push(single.replaceAll("\\'", "'"));
    else if (plain !== undefined) words.push(plain);
    else throw new Error("A quote does not end, or no blank follows it.");
  }
  return words;
}

function unescaped(text: string): string | { base64: string } {
  if (!/\\x[0-9a-f]{2}/i.test(text))
    return text.replace(/\\([\s\S])/g, (_, each: string) => ESCAPES[each] ?? each);
  const bytes = new TextEncoder();
  const parts: number[] = [];
  for (const found of text.matchAll(/\\x([0-9a-f]{2})|\\([\s\S])|([^\\]+)/gi)) {
    if (found[1] !== undefined) parts.push(parseInt(found[1], 16));
    else parts.push(...bytes.encode(found[2] === undefined ? found[3]! : (ESCAPES[found[2]] ?? found[2])));
  }
  return { base64: btoa(String.fromCharCode(...parts)) };
}
