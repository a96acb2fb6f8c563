/**
 * What the page does where scripts run: it asks for itself again and takes over what changed, and it sends forms
 * without leaving. The markup is the server's alone. The script's hash stands in the policy.
 */
export const script = `
'use strict'
{
  const SHORTEST_PAUSE_MS = 1000
  // Where this page is read again, with the pages of its lists, and where its forms go.
  const query = new URLSearchParams(location.search)
  query.delete('notice')
  const address = location.pathname + '?' + query
  const connection = document.getElementById('connection')
  const notice = document.getElementById('notice')

  // What the server last sent for each part and row, by its id. The page's own markup also tells what a user opened.
  const received = new Map()
  for (const part of document.querySelectorAll('[data-live], [data-rows] > *')) received.set(part.id, part.outerHTML)

  const load = async (options) => {
    const response = await fetch(address, { ...options, headers: { Accept: 'text/html' } })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    return new DOMParser().parseFromString(text, 'text/html')
  }

  const usable = (part) => [...part.querySelectorAll('a, button, input, select, summary')]

  // Puts a part in the place of its former self. What was open or chosen stays so, and the focus stays at its place.
  const replace = (former, part) => {
    const [before, after] = [usable(former), usable(part)]
    const focused = before.indexOf(document.activeElement)
    for (const details of part.querySelectorAll('details')) {
      details.open = document.getElementById(details.id)?.open ?? false
    }
    for (const [index, control] of after.entries()) {
      if (control.localName === 'select' && before[index]?.name === control.name) control.value = before[index].value
    }
    const section = former.closest('section')
    former.replaceWith(part)
    if (focused === -1) return
    const next = after[focused] ?? after.at(-1) ?? section?.querySelector('h2')
    next?.focus({ preventScroll: true })
  }

  const changed = (part) => {
    if (received.get(part.id) === part.outerHTML) return false
    received.set(part.id, part.outerHTML)
    return true
  }

  const takeRows = (list, sent) => {
    const rows = [...sent.children]
    const staying = new Set(rows.map((row) => row.id))
    for (const row of [...list.children]) {
      if (staying.has(row.id)) continue
      received.delete(row.id)
      if (row.contains(document.activeElement)) list.closest('section')?.querySelector('h2')?.focus()
      row.remove()
    }
    const present = new Map([...list.children].map((row) => [row.id, row]))
    for (const [index, row] of rows.entries()) {
      const former = present.get(row.id)
      if (changed(row)) {
        if (former) replace(former, row)
        if (list.children[index] !== row) list.insertBefore(row, list.children[index] ?? null)
      } else if (list.children[index] !== former) {
        list.insertBefore(former, list.children[index] ?? null)
      }
    }
  }

  const take = (page) => {
    for (const part of document.querySelectorAll('[data-live]')) {
      const sent = page.getElementById(part.id)
      if (!sent) continue
      if (part.hasAttribute('data-rows')) takeRows(part, sent)
      else if (changed(sent)) replace(part, sent)
    }
  }

  const tell = (text, isGood) => {
    connection.hidden = false
    connection.textContent = text
    connection.classList.toggle('lost', !isGood)
  }

  // Counts what was sent: an answer from before it would bring back what has just been changed.
  let sendings = 0

  const poll = async () => {
    const started = performance.now()
    if (!document.hidden) {
      const before = sendings
      try {
        const page = await load()
        if (before === sendings) take(page)
        tell('Live', true)
      } catch {
        tell('The mock does not answer', false)
      }
    }
    // A mock that holds much is not kept busy by being watched.
    setTimeout(poll, Math.max(SHORTEST_PAUSE_MS, 10 * (performance.now() - started)))
  }

  document.addEventListener('submit', async (event) => {
    event.preventDefault()
    const form = event.target
    if (form.dataset.busy) return
    form.dataset.busy = 'yes'
    sendings += 1
    try {
      const page = await load({ method: 'POST', body: new URLSearchParams(new FormData(form, event.submitter)) })
      const sent = page.getElementById('notice')
      notice.className = sent.className
      notice.replaceChildren(...sent.childNodes)
      sendings += 1
      take(page)
    } catch {
      notice.className = 'alert'
      const words = document.createElement('p')
      words.textContent = 'The mock does not answer.'
      notice.replaceChildren(words)
    } finally {
      delete form.dataset.busy
    }
  })

  // The head of the page stays in sight: what is jumped to, or focused, comes to stand below it.
  const head = document.querySelector('header')
  new ResizeObserver(() => {
    const isSticky = getComputedStyle(head).position === 'sticky'
    document.documentElement.style.scrollPaddingTop = isSticky ? head.offsetHeight + 8 + 'px' : ''
  }).observe(head)

  poll()
}
`
