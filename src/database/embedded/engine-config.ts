import { proof, TOKEN_HEADER, type ServerRecord } from "./directory.js";

/** Path under which the engine proves, to anybody, that it knows its server's secret. */
export const PROOF_PATH = "/proof";

/**
 * The engine's configuration. Whoever carries the reader's token may read the tables and nothing
 * else: no file, no address, no program, whatever the SQL says; that of the writer may also fill
 * them and read files. The user is that of the token, so that no request can name another.
 */
export function engineConfig(
  path: string,
  database: string,
  { token, writerToken, secret }: Pick<ServerRecord, "token" | "writerToken" | "secret">,
  connections: number,
): string {
  const rule = (token: string, user: string) => `<rule><methods>POST,GET</methods>
      <headers><${TOKEN_HEADER}>${token}</${TOKEN_HEADER}></headers>
      <handler><type>dynamic_query_handler</type><query_param_name>query</query_param_name><user>${user}</user></handler></rule>`;
  const user = (name: string, grants: readonly string[]) => `<${name}><no_password/>
      <networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota>
      <grants>${grants.map((grant) => `<query>GRANT ${grant}</query>`).join("")}</grants></${name}>`;
  // No table of `system` holds a token or a password.
  const reader = [`SELECT ON ${database}.*`, "SELECT ON system.*"];
  const writer = [
    `ALL ON ${database}.*`,
    "SELECT ON system.*",
    "CREATE TEMPORARY TABLE ON *.*",
    "KILL QUERY ON *.*",
    "READ, WRITE ON FILE",
  ];
  return `<clickhouse>
  <users_config>${escaped(path)}</users_config>
  <access_control_improvements><table_engines_require_grant>false</table_engines_require_grant></access_control_improvements>
  <max_connections>${connections}</max_connections>
  <http_handlers>
    <rule><methods>GET</methods><url>${PROOF_PATH}</url>
      <handler><type>predefined_query_handler</type><user>nobody</user><query>SELECT lower(hex(SHA256(concat('${engineSecret(secret)}', {nonce:String})))) FORMAT TSVRaw</query></handler></rule>
    ${rule(token, "reader")}
    ${rule(writerToken, "writer")}
  </http_handlers>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <default><no_password/><networks><ip>::/0</ip></networks><profile>default</profile><quota>default</quota></default>
    ${user("nobody", ["SELECT ON system.one"])}
    ${user("reader", reader)}
    ${user("writer", writer)}
  </users>
</clickhouse>
`;
}

/** The engine's part of the secret: what it proves itself with tells nothing of the rest. */
export function engineSecret(secret: string): string {
  return proof(secret, "server", "engine");
}

/**
 * A function that takes the place of the engine's own `file(path)`, which reads any file and asks
 * for no grant; the table function of that name, which does, is left as it is.
 */
export const REFUSED_FILE = `CREATE FUNCTION file AS (path) -> throwIf(1, 'Not enough privileges: questions may not read files')`;

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
