/**
 * The script of the panel. It polls the page, replaces changed parts, and sends forms without a new page. The server
 * creates all markup. The Content-Security-Policy contains the script's hash.
 */
export const script = `
'use strict'
{
  const MIN_PAUSE_MS = 1000
  // The query selects the page of each list.
  const query = new URLSearchParams(location.search)
  query.delete('notice')
  const address = location.pathname + '?' + query
  const notice = document.getElementById('notice')

  const say = (text, kind) => {
    const words = document.createElement('p')
    words.textContent = text
    notice.className = kind
    notice.replaceChildren(words)
  }

  const load = async (options) => {
    const response = await fetch(address, { ...options, headers: { Accept: 'text/html' } })
    if (!response.ok) throw response
    // After an action that created something, the mock redirects to its page.
    if (new URL(response.url).pathname !== location.pathname) location.assign(response.url)
    return new DOMParser().parseFromString(await response.text(), 'text/html')
  }

  // Not \`node.id\`, which is a field if a form has a field with this name.
  const idOf = (node) => node.getAttribute?.('id') ?? ''

  // Changes an element to what the server sent. What the user opened, typed and focused stays, because it belongs to
  // the element and not to its attributes. An element with an id stays the element of this id.
  const change = (element, sent) => {
    for (const { name } of [...element.attributes]) {
      if (name !== 'open' && !sent.hasAttribute(name)) element.removeAttribute(name)
    }
    for (const { name, value } of sent.attributes) {
      if (element.getAttribute(name) !== value) element.setAttribute(name, value)
    }
    const ids = new Set([...sent.children].map(idOf))
    for (const child of [...element.children]) if (idOf(child) && !ids.has(idOf(child))) child.remove()
    let next = element.firstChild
    for (const node of [...sent.childNodes]) {
      if (next?.nodeName !== node.nodeName || idOf(next) !== idOf(node)) {
        element.insertBefore(node, next)
        continue
      }
      if (next.nodeType === Node.ELEMENT_NODE) change(next, node)
      else if (next.nodeValue !== node.nodeValue) next.nodeValue = node.nodeValue
      next = next.nextSibling
    }
    while (next) {
      const after = next.nextSibling
      next.remove()
      next = after
    }
  }

  // A part with the problems of a failed form stays until the next form is sent.
  const update = (page, isResult) => {
    for (const part of document.querySelectorAll('[data-live]')) {
      const sent = page.getElementById(part.id)
      if (!sent || (!isResult && part.querySelector('[data-failed]'))) continue
      const focused = part.contains(document.activeElement) ? document.activeElement : undefined
      change(part, sent)
      if (focused && !focused.isConnected) part.querySelector('h2')?.focus({ preventScroll: true })
    }
  }

  const showConnection = (text, isGood) => {
    const connection = document.getElementById('connection')
    connection.hidden = false
    connection.textContent = text
    connection.classList.toggle('lost', !isGood)
  }

  // The number of sent forms. If it changes while a page loads, that page may be out of date.
  let sentForms = 0

  const poll = async () => {
    const started = performance.now()
    const before = sentForms
    try {
      if (!document.hidden) {
        const page = await load()
        if (before === sentForms) update(page)
        showConnection('Live', true)
      }
    } catch ({ status }) {
      showConnection(status === 404 ? 'The mock no longer has this' : 'The mock does not respond', false)
    }
    // The pause is ten times the response time, so that polling does not keep a slow mock busy.
    setTimeout(poll, Math.max(MIN_PAUSE_MS, 10 * (performance.now() - started)))
  }

  // The forms whose action is under way.
  const busy = new Set()

  document.addEventListener('submit', async (event) => {
    const form = event.target
    // A form that filters a list loads a new page.
    if (form.getAttribute('method') === 'get') return
    event.preventDefault()
    if (busy.has(form)) return
    busy.add(form)
    sentForms += 1
    try {
      const page = await load({ method: 'POST', body: new URLSearchParams(new FormData(form, event.submitter)) })
      sentForms += 1
      change(notice, page.getElementById('notice'))
      const hasFailed = page.querySelector('[data-failed]') !== null
      if (!hasFailed) form.reset()
      update(page, true)
      if (hasFailed) document.querySelector('[aria-invalid]')?.focus()
    } catch {
      say('The mock does not respond.', 'alert')
    }
    busy.delete(form)
  })

  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]')
    if (!button) return
    // Without TLS, a script can use the clipboard only on localhost. Elsewhere, the user can copy the selected text.
    const isCopied = await navigator.clipboard?.writeText(button.dataset.copy).then(() => true, () => false)
    if (!isCopied && button.previousElementSibling) getSelection().selectAllChildren(button.previousElementSibling)
    say(isCopied ? 'Copied.' : 'The clipboard is not available. Select the text to copy it.', 'done')
  })

  poll()
}
`
