/** What the synthetic probes measure. Every name is reserved (RFC 2606): none of them exists. */

const FIRST =
  "alpine amber arctic atlas aurora bright canal capital cedar central city civic coast common daily delta eastern echo evening free global golden harbor island lake liberty local meadow metro morning mountain national north open pacific people public river silver southern sunrise valley western".split(
    " ",
  );
const SECOND =
  "news herald radio times voice forum rights post mail video chat search wiki library health games music sports bank market travel school museum vpn proxy archive watch press".split(
    " ",
  );

/** How many sites the API asks for most; a prime, as the other sizes, so that strides don't repeat. */
export const PRIORITY_SITES = 101;
/** How many sites there are besides. */
const OTHER_SITES = 1103;
/** How many resolvers `dnscheck` measures. */
const RESOLVERS = 31;
/** How many servers `stunreachability` measures. */
const STUN_SERVERS = 17;

const sites = Array.from(
  { length: PRIORITY_SITES + OTHER_SITES },
  (_, site) =>
    `www.${FIRST[site % FIRST.length]}-${SECOND[Math.floor(site / FIRST.length)]}.example`,
);
const resolvers = Array.from({ length: RESOLVERS }, (_, index) => `dns${index + 1}.example`);
const stunServers = Array.from(
  { length: STUN_SERVERS },
  (_, index) => `stun${index + 1}.example:3478`,
);

/** Values of `input`: sites (those of priority first), resolvers, STUN servers, and none. */
export const INPUTS: readonly string[] = [
  ...sites.map((site) => `https://${site}/`),
  ...resolvers.map((name) => `dot://${name}/`),
  ...stunServers.map((name) => `stun://${name}`),
  "",
];

/** Values of `domain`, in the order of INPUTS. */
export const DOMAINS: readonly string[] = [...sites, ...resolvers, ...stunServers, ""];

/** Where the inputs of a test begin in INPUTS, and how many there are. */
export const INPUT_SPANS: Readonly<
  Record<"urls" | "resolvers" | "stun" | "none", { first: number; size: number }>
> = {
  urls: { first: PRIORITY_SITES, size: OTHER_SITES },
  resolvers: { first: sites.length, size: RESOLVERS },
  stun: { first: sites.length + RESOLVERS, size: STUN_SERVERS },
  none: { first: INPUTS.length - 1, size: 1 },
};
