/** The records of a CSV document (RFC 4180), read character by character. */
export function parseCsv(document: string): string[][] {
  const records: string[][] = [];
  let record: string[] = [];
  let field = "";
  let quoted = false;
  for (let at = 0; at < document.length; at++) {
    const character = document[at];
    if (quoted) {
      if (character !== '"') field += character;
      else if (document[at + 1] === '"') field += document[++at];
      else quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === ",") {
      record.push(field);
      field = "";
    } else if (character === "\r" && document[at + 1] === "\n") {
      records.push([...record, field]);
      record = [];
      field = "";
      at++;
    } else field += character;
  }
  return records;
}
