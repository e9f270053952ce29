import { COLON, DOT, escapeAt, type WriteAddress } from "./address-writings.js";

// A run is one match, so that nothing in it is looked at twice.
const RUN = new RegExp(`(?:[0-9a-f]|${COLON}|${DOT}){3,}`, "gi");
const COLONS = new RegExp(`(${COLON})`, "gi");
const DOTS = new RegExp(`(${DOT})`, "gi");
const ZONE = /%[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*/y;
// Where %3A is a colon, %5D is no zone.
const ENCODED_ZONE = /%25[0-9A-Za-z_-]+(?:\.[0-9A-Za-z_-]+)*/y;
const REVERSED = /(?<![0-9a-f.])(?:[0-9a-f]\.){16,32}ip6\.arpa/gi;
const GROUP = /^[0-9a-f]{1,4}$/i;
const OCTET = /^(?:25[0-5]|2[0-4]\d|[01]?\d?\d)$/;

/** A group of an address, an IPv4 address at its end, or nothing between two colons. */
interface Group {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Replaces IPv6 addresses, in any notation, with their zone. Groups before or after that may be of
 * the address (a time, a port) go with it, where `:` alone parts them.
 */
export function replaceIPv6(text: string, write: WriteAddress): string {
  let shown = "";
  let end = 0;
  RUN.lastIndex = 0;
  for (let match = RUN.exec(text); match !== null; match = RUN.exec(text)) {
    const [run] = match;
    if (!/:|%/.test(run)) continue;
    for (const { from, to, address } of addressesIn(
      run,
      escapeAt(text, match.index),
      followsWord(text, match.index),
    )) {
      shown += text.slice(end, match.index + from) + write("IPv6", address);
      end = match.index + to;
      if (to < run.length) continue;
      const zone = run.includes("%") ? ENCODED_ZONE : ZONE;
      zone.lastIndex = end;
      end += zone.exec(text)?.[0].length ?? 0;
      RUN.lastIndex = end;
    }
  }
  return (shown + text.slice(end)).replace(REVERSED, (name) => write("IPv6", name));
}

function followsWord(text: string, at: number): boolean {
  const last = text[at - 1] ?? "";
  // In \n2001:db8::1 a line ends before it.
  if (/[nrt]/.test(last) && text[at - 2] === "\\") return false;
  return /[0-9A-Za-z]/.test(last);
}

interface Found {
  readonly from: number;
  readonly to: number;
  readonly address: string;
}

function addressesIn(run: string, begun: number, followsWord: boolean): Found[] {
  const pieces = run.split(COLONS);
  if (pieces.length < 5) return [];
  const found: Found[] = [];
  let open: Group[] = [];
  const close = () => {
    const address = addressOf(open);
    if (address !== undefined) found.push(address);
    open = [];
  };
  let from = 0;
  for (const [at, piece] of pieces.entries()) {
    const first = from;
    from += piece.length;
    if (at % 2 === 1) continue;
    const escape = at === 0 && !/[^0-9a-f]/i.test(piece.slice(0, begun)) ? begun : 0;
    const word = piece.slice(escape);
    const glued = at === 0 && escape === 0 && followsWord && !/^\d[0-9a-f]{2,3}$/i.test(word);
    if (!glued && (word === "" || GROUP.test(word))) {
      open.push({ from: first + escape, to: from, text: word });
      continue;
    }
    const { head, tail } = endsOf(word);
    if (head !== undefined && open.length > 0)
      open.push({ from: first, to: first + head.length, text: head.text });
    close();
    if (tail !== undefined) open.push({ from: from - tail.length, to: from, text: tail });
  }
  close();
  return found;
}

interface Ends {
  /** With what an address before may end. */
  readonly head?: { readonly text: string; readonly length: number } | undefined;
  /** With what one may begin. */
  readonly tail?: string | undefined;
}

const NEITHER: Ends = {};

/** The ends of numbers with dots between them: an IPv4 address, a port as tcpdump writes it. */
function endsOf(word: string): Ends {
  const pieces = word.split(DOTS);
  if (pieces.length < 3) return NEITHER;
  const numbers = pieces.filter((_, at) => at % 2 === 0);
  const last = numbers.at(-1) ?? "";
  const first = numbers[0] ?? "";
  const isQuad = numbers.length >= 4 && numbers.slice(0, 4).every((each) => OCTET.test(each));
  const tail = isQuad && numbers.length === 4 ? undefined : fitting(last);
  if (isQuad) {
    const length = pieces.slice(0, 7).join("").length;
    return { head: { text: numbers.slice(0, 4).join("."), length }, tail };
  }
  const text = fitting(first);
  return { head: text === undefined ? undefined : { text, length: text.length }, tail };
}

function fitting(text: string): string | undefined {
  return text === "" || GROUP.test(text) ? text : undefined;
}

function addressOf(open: readonly Group[]): Found | undefined {
  let [begin, end] = [0, open.length];
  const empty = (at: number): boolean => open[at]?.text === "";
  // A colon alone at an end is of the text.
  while (begin < end && empty(begin) && !(empty(begin + 1) && filled(begin + 2))) begin++;
  while (end > begin && empty(end - 1) && !(empty(end - 2) && filled(end - 3))) end--;
  function filled(at: number): boolean {
    return at >= begin && at < end && !empty(at);
  }
  const groups = open.slice(begin, end);
  const [first] = groups;
  const last = groups.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const short = groups.some(({ text }, at) => text === "" && at > 0 && at < groups.length - 1);
  const full = groups.filter(({ text }) => text !== "");
  const count = full.length + (last.text.includes(".") ? 1 : 0);
  if (!short && (count < 8 || areBytes(full))) return undefined;
  if (full.length === 0) return undefined;
  const address = groups.map(({ text }) => text).join(":");
  return { from: first.from, to: last.to, address };
}

/** The bytes of a fingerprint or of MAC addresses, parted by colons, or its hexadecimal digits. */
function areBytes(groups: readonly Group[]): boolean {
  const length = groups[0]?.text.length ?? 0;
  const many = length === 2 ? 8 : length === 1 ? 16 : Infinity;
  return groups.length > many && groups.every(({ text }) => text.length === length);
}
