/**
 * What the environment of a process that runs cells says beside its own.
 *
 * One malloc arena: with one for each of V8's compiling threads, glibc keeps what they let go of, and a
 * kernel grows by some 40 MB every 100 cells. Other systems ignore it.
 */
export const processEnvironment: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: "1" };
