import { scramble } from "./draw.js";

/** A country with probes. */
interface Country {
  /** ISO 3166-1 alpha-2, as in `probe_cc`. */
  readonly code: string;
  /** Its share of the runs. */
  readonly weight: number;
  /** Hours that its clocks are ahead of UTC; the sample has no daylight saving time. */
  readonly utcOffset: number;
  /** Sites and services that are blocked in the sample, in permille: invented, it says nothing of the real country. */
  readonly blocked: number;
  /** The AS numbers of its largest networks, by probes. */
  readonly networks: readonly number[];
}

/** Countries by their share of the runs: code, weight, UTC offset, permille blocked, networks. */
export const COUNTRIES: readonly Country[] = `
US 170 -6 4 7922 21928 701 20115 22773 7018 6167 209
RU 105 3 90 12389 25513 8402 31133 8359 3216 16345
BR 78 -3 6 28573 27699 18881 26599 262907 26615
DE 70 1 4 3320 3209 6805 8881 31334
IT 62 1 12 3269 30722 12874 1267 24608
IN 55 5 35 55836 45609 24560 9829 17488
GB 50 0 8 2856 5089 5607 13285 12576
FR 42 1 5 3215 12322 15557 5410
ID 36 7 70 7713 23693 24203 17451
ES 32 1 6 3352 12479 12430 57269
TR 29 3 60 47331 15897 16135 34984
UA 27 2 30 15895 25229 21497 13188
MX 24 -6 5 8151 28548 13999 22884
CA 22 -5 4 812 577 852 6327
NL 20 1 4 33915 1136 50266
PL 18 1 5 5617 12912 8374 29314
EG 17 2 50 8452 36992 24835 24863
IR 16 4 160 44244 197207 58224 57218
PK 15 5 55 17557 45595 59257 23674
AR 14 -3 4 7303 22927 7473
JP 13 9 3 2516 4713 17676 9605
TH 12 7 35 17552 131445 45758
MY 12 8 40 4788 9534 10030
VE 11 -4 55 8048 264731 21826
CO 11 -5 5 10620 13489 3816
SE 10 1 3 3301 1257 2119
FI 10 2 3 719 1759 50304
AU 10 10 6 1221 4804 7545
PH 9 8 8 9299 132199 4775
VN 9 7 30 7552 45899 18403
SA 9 3 60 39891 25019 35819
AE 8 4 70 5384 15802
KZ 8 5 70 9198 206026 29355
BD 8 6 45 24389 45245 58717
NG 7 1 8 29465 36873 37148
KE 7 3 6 33771 36926 36866
GR 7 2 8 6799 1241 25472
CH 7 1 4 3303 6730 15796
AT 6 1 5 8447 8412 1901
BE 6 1 4 5432 6848 12392
PT 6 0 7 3243 2860 12353
RO 6 2 5 8708 12302 9050
CZ 5 1 4 5610 16019 13036
TW 5 8 3 3462 18182 7482
KR 5 9 12 4766 3786 17858
CN 5 8 220 4134 4837 9808
HK 4 8 6 4760 9304 10118
IQ 4 3 80 201749 50710 203214
ZA 4 2 4 37457 16637 29975
CL 4 -4 4 7418 22047 27651
PE 4 -5 4 6147 12252 21575
MM 4 6 110 9988 136255 132167
BY 3 3 80 6697 25106 42772
UZ 3 5 60 28910 8193
NO 3 1 3 2119 29695
DK 3 1 5 3292 9158
HU 3 1 4 5483 21334
IE 3 0 3 5466 6830
TZ 2 3 30 36908 37133
ET 2 3 60 24757
SD 2 2 30 15706 36998
CU 2 -5 80 27725
AZ 2 4 60 29049 28787
GE 1 4 5 16010 34797
LS 1 2 3 33567
ZM 1 2 12 36962
`
  .trim()
  .split("\n")
  .map((line) => {
    const [code = "", ...numbers] = line.split(" ");
    const [weight = 0, utcOffset = 0, blocked = 0, ...networks] = numbers.map(Number);
    return { code, weight, utcOffset, blocked, networks };
  });

/** The networks, each a pair of `probe_cc` and `probe_asn`: within a country weight ~ 1 / rank (Zipf's law). */
export const NETWORKS = COUNTRIES.flatMap((country, index) => {
  const size = Math.max(country.networks.length, Math.round(6 + country.weight));
  const ranks = Array.from({ length: size }, (_, rank) => 1 / (rank + 1));
  const total = ranks.reduce((sum, share) => sum + share, 0);
  return ranks.map((share, rank) => ({
    /** Index in COUNTRIES. */
    country: index,
    // beyond the known ones: a number of the range given out since 2009
    asn: country.networks[rank] ?? 196_608 + Math.floor(scramble(index * 1_000 + rank) * 80_000),
    weight: (country.weight * share) / total,
  }));
});
