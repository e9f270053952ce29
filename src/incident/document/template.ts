/**
 * The look of a postmortem's PDF, in Typst's markup (https://typst.app/docs). What it says comes from
 * `data.json`, which `documentPdf` writes.
 */
export const TEMPLATE = String.raw`
#let it = json("data.json")
#let soft = rgb("#59636e")
#let accent = rgb("#0a5cad")
#let line = 0.5pt + rgb("#d1d9e0")
#let bar-room = 32pt

#set document(title: it.title, date: datetime(..it.date))
#set page(paper: "a4", margin: 50pt, footer-descent: 16pt, footer: context {
  set text(7.5pt, fill: soft)
  grid(columns: (1fr, auto), it.foot, counter(page).display())
})
#set text(font: it.fonts, size: 10pt, fill: rgb("#1f2328"), lang: "en", hyphenate: false)
#set par(leading: 0.68em, spacing: 8pt)
#set heading(outlined: true)
#show heading: set block(above: 12pt, below: 6pt)
#show heading.where(level: 1): set text(18pt)
#show heading.where(level: 2): set text(13pt)
#show heading.where(level: 3): set text(11pt)
#show link: it => text(fill: accent, underline(it))

// Addresses end a line after their signs, other long words anywhere.
// No space is set for h(0pt), and no line ends there.
#let gap = h(0.001pt)
#let anywhere(word) = {
  let each = if word.len() > 500 { 8 } else { 1 }
  word.clusters().chunks(each).map(part => part.join()).join(gap)
}
#let split(word) = {
  let parts = word.matches(regex("[^/?&=_.,;:\\-]*[/?&=_.,;:\\-]+|[^/?&=_.,;:\\-]+")).map(it => it.text)
  parts.map(part => if part.len() > 24 { anywhere(part) } else { part }).join(gap)
}
#let long(least) = regex("[^\\s\\p{Han}\\p{Hiragana}\\p{Katakana}\\p{Hangul}]{" + str(least) + ",}")
#show long(31): it => split(it.text)

#let label-of(number) = label("figure-" + str(number))

#let runs(all) = for run in all {
  // Typst refuses a document with a longer link.
  if "link" in run and run.link.len() < 8000 { link(run.link, run.text) }
  else if "figure" in run { link(label-of(run.figure), run.text) }
  else { run.text }
}

// A cell is a run of spans, or a text with a bar.
#let cell(one) = if type(one) == array { runs(one) } else if "bar" in one {
  // A bar stays beside its number.
  box({
    one.text
    h(4pt)
    box(width: bar-room, height: 6pt, align(left, rect(width: one.bar * bar-room, height: 6pt, fill: rgb("#4a90c2"))))
  })
} else { one.text }

// The first two rows of a table stand on one page, and the last two: a column without width holds them
// together. A row of many lines may be parted.
#let size(one) = if type(one) == array { one.map(run => run.text.len()).sum(default: 0) } else { one.text.len() }
#let held(all) = {
  let count = all.len()
  let groups = if count < 4 { (all,) } else { (all.slice(0, 2), ..all.slice(2, count - 2).map(it => (it,)), all.slice(count - 2)) }
  for group in groups {
    let long = group.any(row => row.any(one => size(one) > 900))
    for (at, row) in group.enumerate() {
      if at == 0 { (table.cell(rowspan: group.len(), breakable: long, inset: 0pt, []),) }
      row.map(one => table.cell(breakable: long, cell(one)))
    }
  }
}

#let rows(all, heads: (), numbers: ()) = {
  set text(8.5pt)
  show long(21): it => split(it.text)
  table(
    columns: (0pt, ..heads.map(it => auto)),
    align: (x, y) => if numbers.at(calc.max(x - 1, 0), default: false) and x > 0 { right } else { left },
    inset: (x, y) => (left: if x <= 1 { 0pt } else { 4pt }, right: if x == 0 { 0pt } else { 4pt }, y: 3.5pt),
    stroke: (bottom: line, rest: none),
    table.header([], ..heads.map(head => text(8pt, fill: soft, weight: "bold", head))),
    ..held(all),
  )
}

#let items(all) = {
  let marks = all.map(it => it.at(0)).dedup()
  // A list has one mark for all of its items.
  let lists = if marks.len() == 1 { (all,) } else { all.map(it => (it,)) }
  for each in lists {
    list(marker: each.at(0).at(0), body-indent: 6pt, spacing: 7pt, ..each.map(it => runs(it.at(1))))
  }
}

// A chart and its caption stand on one page; a caption of half a page stands before it.
#let figure-of(of) = {
  let about = "Where figure " + str(of.number) + " comes from"
  pdf.attach(of.name + ".origin.json", mime-type: "application/json", relationship: "data", description: about)
  let title = "Figure " + str(of.number) + if of.caption != "" { ": " + of.caption }
  let caption = [#heading(level: 3, title)#label-of(of.number)]
  if "picture" in of {
    v(16pt, weak: true)
    layout(size => {
      let head = measure(block(width: size.width, caption)).height + 16pt
      let tall = head > size.height / 2
      let room = if tall { size.height } else { size.height - head }
      let (width, height, alt) = of.picture
      let scale = calc.min(1, size.width / (width * 1pt), room / (height * 1pt))
      block(breakable: tall, {
        caption
        image(of.name + ".svg", width: width * scale * 1pt, alt: alt)
      })
    })
  } else {
    caption
    let columns = of.table.columns
    rows(of.table.rows, heads: columns.map(it => it.title), numbers: columns.map(it => it.number))
    if of.notes != "" { block(below: 14pt, text(8pt, fill: soft, of.notes)) }
  }
}

#let show-block(of) = {
  if of.kind == "heading" { heading(level: of.level, of.text) }
  else if of.kind == "paragraph" { par(runs(of.spans)) }
  else if of.kind == "list" { items(of.items.map(it => ("•", it))) }
  else if of.kind == "checklist" { items(of.items.map(it => (if it.done { "[x]" } else { "[ ]" }, it.spans))) }
  else if of.kind == "table" { rows(of.rows, heads: of.heads) }
  else { figure-of(of) }
}

// What leads to a figure stands on its page.
#for (index, of) in it.blocks.enumerate() {
  set text(8pt, fill: soft) if index + 1 == it.blocks.len()
  let next = it.blocks.at(index + 1, default: (kind: ""))
  if of.kind in ("list", "paragraph") and next.kind == "figure" { block(sticky: true, show-block(of)) }
  else { show-block(of) }
}
`;
