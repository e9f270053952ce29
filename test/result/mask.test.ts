import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskAddresses } from "../../src/index.js";

describe("maskAddresses(text)", () => {
  it.each([
    ["from 203.0.113.7: 200", "from [IPv4]: 200"],
    ["203.0.113.7:443,198.51.100.1", "[IPv4]:443,[IPv4]"],
    ["host.203.0.113.7.example", "host.[IPv4].example"],
    ["net 2001:db8::/32, via fe80::1%eth0.", "net [IPv6]/32, via [IPv6]."],
    ["[2001:db8::1]:443", "[[IPv6]]:443"],
    ["from 2001:db8::1: 100 URLs", "from [IPv6]: 100 URLs"],
    ["client:2001:db8::1", "client:[IPv6]"],
    ["7:2001:db8:0:0:0:0:0:1", "[IPv6]"],
    ["2001:db8:0:0:0:0:0:1:8080", "[IPv6]"],
    ["::ffff:203.0.113.7 and ::1", "[IPv6] and [IPv6]"],
    ["mail <jo.do+x@mail.example.org>", "mail <[e-mail]>"],
    ["at 12:30:45.123 std::map 10:20 a::", "at 12:30:45.123 std::map 10:20 [IPv6]"],
    ["198-51-100-7.isp.example.net, host-203-0-113-172", "[IPv4].isp.example.net, host-[IPv4]"],
    ["/from 203\\.0\\.113\\.200/", "/from [IPv4]/"],
    ["m=user%40example.org&v=2001%3Adb8%3A%3A1", "m=[e-mail]&v=[IPv6]"],
    ["2026-05-04-10, 256-1-1-1, 1-2-3-4-5, 10:20%3A", null],
    ["MAC 02:00:5e:10:00:01, root@api1, v1.2.3, 1.2.3.4.5", null],
    ["ec2-203-0-113-7.compute-1.amazonaws.com", "ec[IPv4].compute-1.amazonaws.com"],
    ["pool-1-203-0-113-7.dyn", "pool-[IPv4].dyn"],
    ["IP 203.0.113.7.51234 > 198.51.100.1.443:", "IP [IPv4].51234 > [IPv4].443:"],
    ["IP6 2001:db8::1.443 > fe80::1.60009:", "IP6 [IPv6].443 > [IPv6].60009:"],
    ["1.203.0.113.7, 203.0.113.7.80", "[IPv4], [IPv4]"],
    ["203.0.113.7-203.0.113.9, 10-203.0.113.7_443", "[IPv4]-[IPv4], 10-[IPv4]_443"],
    ["5-4-3-2-203.0.113.7 203-0-113-7.1.2.3", "[IPv4].0.113.7 [IPv4].1.2.3"],
    ["q=from%20203.0.113.7%2C203.0.113.8", "q=from%20[IPv4]%2C[IPv4]"],
    ["%5B2001%3Adb8%3A%3A1%5D%3A443", "%5B[IPv6]%5D%3A443"],
    ["%3A%3Affff%3A203.0.113.7, ::ffff:203\\.0\\.113\\.7", "[IPv6], [IPv6]"],
    ["1.2.3.4:2001:db8::1 2001:db8::1-203-0-113-7", "[IPv4]:[IPv6] [IPv6]-[IPv4]"],
    ["08:40:11:2001:db8:0:0:0:0:0:1", "[IPv6]"],
    ["2001:db8::1%20GET", "[IPv6]%20GET"],
    ["deadbeef:2001:db8::1, line\\n2001:db8:0:0:0:0:0:1", "deadbeef:[IPv6], line\\n[IPv6]"],
    ["7.113.0.203.in-addr.arpa", "[IPv4].in-addr.arpa"],
    ['"jo doe"@example.org, "Jo"@example.org', "[e-mail], [e-mail]"],
    ["jose\u0301@example.org jose\u0301.garcia@example.org", "[e-mail] [e-mail]"],
    ["अजय@डाटा.भारत", "[e-mail]"],
    ["o'neil@example.org jo\\.doe@example\\.org", "[e-mail] [e-mail]"],
    ["jo@host_1.example.org", "[e-mail]"],
    ["203%2E0%2E113%2E7 203_0_113_7 203&#46;0&#x2e;113&#46;7", "[IPv4] [IPv4] [IPv4]"],
    ["203\\u002e0\\u002e113\\u002e7 203．0．113．7", "[IPv4] [IPv4]"],
    ["1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa", "[IPv6].ip6.arpa"],
    ["jo&#64;example&#46;org jo\\u0040example.org jo＠example．org", "[e-mail] [e-mail] [e-mail]"],
    ["root@localhost, &quot;jo doe&quot;@example.org", "[e-mail], [e-mail]"],
    ["2001&#58;db8&#x3a;&#58;1 2001：db8：：1", "[IPv6] [IPv6]"],
    ["client2001:db8::1 std::map utf8::decode", "client[IPv6] std::map utf8::decode"],
    ["%E9203.0.113.7 \\u0022203.0.113.7\\x20203.0.113.7", "%E9[IPv4] \\u0022[IPv4]\\x20[IPv4]"],
    [
      "\\u00222001:db8::1 %202001:db8::1 \\u003c203.0.113.7",
      "\\u0022[IPv6] %20[IPv6] \\u003c[IPv4]",
    ],
    ["3.10.0, 3.10.0-1, 1.2.3-4, 3.10.0_beta.1, 08:40:11, 08.40.11", null],
    ["2026-05-04T08:40:11.123Z, 2026-05-04-08-40-11, 2026_05_04_08, 20260504T084011Z", null],
    ["20260504T084010Z_webconnectivity_DE_3320_n1_Zk3wQ9", null],
    ["550e8400-e29b-41d4-a716-446655440000 e3b0c44298fc1c149afbf4c8996fb924", null],
    [`SHA1 ${"2f:0a:".repeat(9)}00:11, MAC=02:42:ac:11:00:02:02:42:0a:00:00:01:08:00`, null],
    ["std::1, client::1, deadbeef::1, crate::fs, 10:20:30.5, 256.1.1, +49-30-1234-5678", null],
  ])("%j", (text, masked) => {
    expect(maskAddresses(text)).toBe(masked ?? text);
  });

  it("hides every address among words, and what it has masked stays so", () => {
    const word = fc.constantFrom("from", "GET", "200", "lag 3 s", "::", "10:20", "a=b", "ü");
    const address = fc.oneof(
      fc.ipV4().map((value) => ({ value, shown: "[IPv4]" })),
      fc
        .ipV6()
        .filter((value) => value !== "::")
        .map((value) => ({ value, shown: "[IPv6]" })),
      fc
        .stringMatching(/^[a-z0-9._+-]{1,12}@[a-z]{1,8}\.(org|example)$/)
        .map((value) => ({ value, shown: "[e-mail]" })),
    );
    const part = fc.oneof(
      word.map((value) => ({ value, shown: value })),
      address,
    );
    fc.assert(
      fc.property(fc.array(part), fc.constantFrom(" ", ", ", " [", '"'), (list, gap) => {
        const shown = maskAddresses(list.map(({ value }) => value).join(gap));
        expect(shown).toBe(list.map((one) => one.shown).join(gap));
        expect(maskAddresses(shown)).toBe(shown);
      }),
      { numRuns: 2000, seed: 7 },
    );
  });

  const octet = fc.nat(255);
  const dots = fc.constantFrom(".", "\\.");
  const gaps = fc.oneof(fc.tuple(dots, dots, dots), fc.constant(["-", "-", "-"] as const));
  const ipv4 = fc
    .tuple(fc.tuple(octet, octet, octet, octet), gaps)
    .filter(([numbers]) => numbers.some((number) => number > 9))
    .map(([[a, b, c, d], [x, y, z]]) => `${a}${x}${b}${y}${c}${z}${d}`);
  const ipv6 = fc
    .tuple(fc.ipV6(), fc.constantFrom(":", "%3A", "%3a"))
    .filter(([value]) => /[0-9a-f]{3}/i.test(value.split(".")[0] ?? ""))
    .map(([value, colon]) => value.replaceAll(":", colon));
  const name = fc.stringMatching(/^[a-zé\u0301ि][a-z0-9._+é\u0301\u093f-]{0,10}$/u);
  const local = fc
    .tuple(name, fc.constantFrom("_", '"_ doe"', "o'_"))
    .map(([text, form]) => form.replace("_", () => text));
  const host = fc.constantFrom("example", "mail_1", "डाटा", "xn--bcher-kva");
  const email = fc
    .tuple(local, fc.constantFrom("@", "%40"), host, dots)
    .map((parts) => `${parts.join("")}org`);

  it.each<[string, fc.Arbitrary<string>, before: string, after: string]>([
    [
      "IPv4",
      ipv4,
      '|| |from|pool-1-|1.|1_|10.|ec2-|host.|8:|a=|%20|%5B|%E9|\\u0022|2026-05-04 08:40:11.123 |v3.10.0,|08:40:11.|(|"|jo |\\',
      "|| |.|,|:443|.443|.60009|.80|-1|_1|/24|/index.html|%20GET|%3A443|-2026-05-04|.dyn|-gw|]| 3.10.0|x|\\",
    ],
    [
      "IPv6",
      ipv6,
      '|| |[|client:|7:|08:40:11:|deadbeef:|%5B|%20|host.|\\n|=|203.0.113.256:|2026-05-04T08:40:11Z |(|"|from |std::x,',
      '|| |]:443|:443|.443|.60009|. |,|/32|%eth0|%20GET|%5D%3A443|: 100|)|"| 08:40:11|-|%2F',
    ],
    ["e-mail", email, '|| |<|(|mailto:|a=|, |/|{"', '|| |>|)|,|:|&b=1|/x|"}|?'],
  ])(
    "leaves nothing of an %s address, whatever stands around it",
    (kind, address, before, after) => {
      const [around, behind] = [before, after].map((list) => fc.constantFrom(...list.split("|")));
      fc.assert(
        fc.property(address, around!, behind!, (value, left, right) => {
          // A digit behind a word is of a name: ec2-203-0-113-7.
          fc.pre(!(left === "from" && /^\d[^\d]/.test(value)));
          const shown = maskAddresses(`${left}${value}${right}`);
          // What is left of a text around a mask must have stood around the address.
          const [, start = "?", end = "?"] =
            new RegExp(`^(.*)\\[${kind}\\](.*)$`, "s").exec(shown) ?? [];
          expect([left.startsWith(start), right.endsWith(end), shown]).toEqual([true, true, shown]);
        }),
        { numRuns: 4_000, seed: 11 },
      );
    },
  );

  it("is done with 400 kB of anything before anybody waits", () => {
    const pieces =
      "1 1. 10. 10- a: ab:1 :: %3A %40 %25 a@ a@b a' \\ \" % 2001:db8: ::1 é 10.0.0.1".split(" ");
    for (const text of [...pieces, " ", "word ", "jo@example.org ", '"a" ', "\n"]) {
      for (const part of [text, `x${text}`]) {
        const long = part.repeat(Math.ceil(400_000 / part.length));
        // Whatever takes the square of its length would take minutes, and the test's time be over.
        expect(maskAddresses(`${long}!`).endsWith("!")).toBe(true);
      }
    }
  });

  it.each(["a".repeat(300_000), ":".repeat(300_000), "1.".repeat(150_000)])(
    "leaves a long run without an address as it is (%#)",
    (text) => {
      expect(maskAddresses(text)).toBe(text);
    },
  );
});
