// An API that answers as it is told: the last segment of its base path names the answer. A process
// of its own, as the real one is; prints its port, ends with its standard input.
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

const asked = new Map();

const entries = (count) =>
  Array.from({ length: count }, (_, index) => ({
    category_code: "NEWS",
    country_code: "XX",
    domain: `www${index}.example`,
    priority: 100 - index / 1000,
    url: `https://www${index}.example/`,
  }));
const JSON_TYPE = { "content-type": "application/json" };
const send = (response, body, headers = JSON_TYPE, status = 200) => {
  response.writeHead(status, headers);
  response.end(typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body));
};
const good = () => ({ metadata: { count: 3 }, results: entries(3) });

const answers = {
  good: (response) => send(response, good()),
  bom: (response) => send(response, `\uFEFF${JSON.stringify(good())}`),
  long: (response) => send(response, { results: entries(1200) }),
  gzip: (response) =>
    send(response, gzipSync(JSON.stringify(good())), { ...JSON_TYPE, "content-encoding": "gzip" }),
  // 40 kB on the wire, 40 MB unpacked
  bomb: (response) =>
    send(response, gzipSync(Buffer.alloc(40_000_000, " ")), {
      ...JSON_TYPE,
      "content-encoding": "gzip",
    }),
  "cut-gzip": (response) =>
    send(response, gzipSync(JSON.stringify({ results: entries(500) })).subarray(0, 400), {
      ...JSON_TYPE,
      "content-encoding": "gzip",
    }),
  cut: (response) => {
    response.writeHead(200, { ...JSON_TYPE, "content-length": "5000" });
    response.write('{"results": [{"url": "https://a.exa', () => response.destroy());
  },
  half: (response) => send(response, '{"results": [{"url": "https://a.exa'),
  slow: (response) => {
    response.writeHead(200, JSON_TYPE);
    response.write('{"results":');
    const drip = setInterval(() => response.write(" "), 50);
    response.on("close", () => clearInterval(drip));
  },
  silent: () => {},
  large: (response) => {
    response.writeHead(200, JSON_TYPE);
    let sent = 0;
    const more = () => {
      while (sent < 100_000_000) {
        sent += 1_000_000;
        if (!response.write(Buffer.alloc(1_000_000, " "))) return void response.once("drain", more);
      }
      response.end("{}");
    };
    more();
  },
  html: (response) => send(response, "<p>Log in", { "content-type": "text/html" }),
  500: (response) => send(response, "no", JSON_TYPE, 500),
  404: (response) => send(response, "no", JSON_TYPE, 404),
  // busy, then cut, then well
  recovers: (response, times) =>
    times === 1
      ? send(response, "busy", { ...JSON_TYPE, "retry-after": "0" }, 503)
      : times === 2
        ? answers.cut(response)
        : answers.good(response),
  moved: (response, _, request) => {
    const location = request.url.replace("/moved/", "/good/");
    response.writeHead(308, { location }).end();
  },
  elsewhere: (response) => response.writeHead(302, { location: "http://localhost:9/x" }).end(),
  "no-url": (response) =>
    send(response, { results: [{ url: "https://a.example/" }, { domain: "b.example" }] }),
  "number-url": (response) => send(response, { results: [{ url: 7 }] }),
  "no-object": (response) => send(response, { results: ["https://a.example/"] }),
  "no-results": (response) => send(response, { urls: [] }),
  empty: (response) => send(response, { results: [] }),
  // a quarter of the list is new at each answer; the third fails
  changing: (response, times) =>
    times === 3
      ? send(response, "no", JSON_TYPE, 500)
      : send(response, { results: entries(400).slice(times * 25, times * 25 + 100) }),
};

const server = createServer((request, response) => {
  const url = new URL(request.url, "http://localhost");
  if (url.pathname === "/asked") return send(response, Object.fromEntries(asked));
  const kind = url.pathname.split("/")[1];
  const key = `${kind} ${url.pathname.slice(kind.length + 1)}${url.search}`;
  asked.set(key, (asked.get(key) ?? 0) + 1);
  const answer = answers[kind];
  if (answer === undefined) return send(response, "no", JSON_TYPE, 404);
  answer(response, asked.get(key), request);
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
process.stdin.on("end", () => process.exit()).resume();
