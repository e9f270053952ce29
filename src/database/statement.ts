import { ProbelabError } from "../base/error.js";
import { sqlCode } from "./sql-text.js";

const READS = /^[\s(]*(SELECT|WITH|FROM|SHOW|DESCRIBE|DESC|EXPLAIN|EXISTS)\b/i;
const WRITES =
  /\bINSERT\s+INTO\b|\bINTO\s+OUTFILE\b|^[\s(]*(EXPLAIN\s+)+(\w+\s+){0,2}(ALTER|CREATE|DROP|TRUNCATE|RENAME|EXCHANGE|OPTIMIZE|ATTACH|DETACH|DELETE|UPDATE|KILL|SYSTEM|SET|GRANT|REVOKE|BACKUP|RESTORE)\b/i;

/**
 * Refuses to send what does not read, whoever wrote it: the last gate before the server, which is
 * asked with readonly = 1 besides. Strings, quoted names and comments are no part of a statement.
 */
export function checkReads(sql: string): void {
  const code = sqlCode(sql);
  if (READS.test(code) && !WRITES.test(code)) return;
  throw new ProbelabError(
    "Can't run the query: it is no SELECT, SHOW, DESCRIBE or EXPLAIN of one, and questions only read. Leave out what writes.",
  );
}
