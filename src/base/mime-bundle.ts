/** What a notebook shows: one value in several forms by MIME type, and what is said about each form. */
export interface MimeBundle {
  readonly data: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
}
