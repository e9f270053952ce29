import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { maskAddresses } from "../../src/logs/mask-addresses.js";

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
    ["/from 203\\.0\\.113\\.200/ 203[.]0[.]113[.]7", "/from [IPv4]/ [IPv4]"],
    [
      "a=203%2E0%2e113%2E7&m=user%40example.org&v=2001%3Adb8%3A%3A1",
      "a=[IPv4]&m=[e-mail]&v=[IPv6]",
    ],
    ["2026-05-04-10, 256-1-1-1, 1-2-3-4-5, 10:20%3A", null],
    ["MAC 02:00:5e:10:00:01, root@api1, v1.2.3, 1.2.3.4.5", null],
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

  it.each(["a".repeat(300_000), ":".repeat(300_000), "1.".repeat(150_000), "a:".repeat(150_000)])(
    "leaves a long run without an address as it is (%#)",
    (text) => {
      expect(maskAddresses(text)).toBe(text);
    },
  );
});
