/** One value shown in a notebook: its forms by MIME type, and metadata of each. */
export interface MimeBundle {
  readonly data: Record<string, unknown>;
  readonly metadata: Record<string, unknown>;
}
