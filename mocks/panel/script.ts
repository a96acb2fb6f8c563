/**
 * The script of the panel. The script polls the page, replaces changed parts, and sends forms without a new page.
 * The server creates all markup. The Content-Security-Policy contains the script's hash.
 */
export const script = `
'use strict'
{
  const MIN_PAUSE_MS = 1000
  // The script polls this URL and sends forms to this URL. The query selects the page of each list.
  const query = new URLSearchParams(location.search)
  query.delete('notice')
  const address = location.pathname + '?' + query
  const connection = document.getElementById('connection')
  const notice = document.getElementById('notice')

  const say = (text, kind) => {
    const words = document.createElement('p')
    words.textContent = text
    notice.className = kind
    notice.replaceChildren(words)
  }

  // The last markup that the server sent for each part. The document may differ, because the user can open details.
  const liveParts = () => [...document.querySelectorAll('[data-live]')]
  const received = new Map(liveParts().map((part) => [part.id, part.outerHTML]))

  const load = async (options) => {
    const response = await fetch(address, { ...options, headers: { Accept: 'text/html' } })
    const text = await response.text()
    if (!response.ok) throw new Error(text)
    // After an action that created something, the mock redirects to its page.
    if (new URL(response.url).pathname !== location.pathname) location.assign(response.url)
    return new DOMParser().parseFromString(text, 'text/html')
  }

  const controlsOf = (element) => [...element.querySelectorAll('a, button, input, select, summary')]
  // Not \`form.id\`, which is a field if the form has a field with this name.
  const holderOf = (control) => control.parentElement.closest('[id]').getAttribute('id')

  const startValue = (field) =>
    field.defaultValue ?? [...field.options].find((option) => option.defaultSelected)?.value ?? field.options[0]?.value

  // Replaces a part. Keeps opened details, chosen options and the focus.
  const replace = (former, part) => {
    for (const details of part.querySelectorAll('details')) {
      details.open = document.getElementById(details.id)?.open ?? false
    }
    for (const field of former.querySelectorAll('select, input:not([type=hidden])')) {
      const same = part.querySelector('#' + CSS.escape(holderOf(field)) + ' [name="' + field.name + '"]')
      if (same && field.value !== startValue(field)) same.value = field.value
    }
    const focused = document.activeElement
    const holder = former.contains(focused) ? holderOf(focused) : undefined
    const index = holder ? controlsOf(document.getElementById(holder)).indexOf(focused) : -1
    const heading = former.closest('section')?.querySelector('h2')
    former.replaceWith(part)
    if (index === -1) return
    const place = document.getElementById(holder)
    const controls = place ? controlsOf(place) : []
    const next = controls[index] ?? controls.at(-1) ?? heading
    next?.focus({ preventScroll: true })
  }

  // A part with the problems of a failed form stays until the next form is sent.
  const update = (page, isResult) => {
    for (const part of liveParts()) {
      const sent = page.getElementById(part.id)
      if (!sent || received.get(part.id) === sent.outerHTML) continue
      if (!isResult && part.querySelector('[data-failed]')) continue
      received.set(part.id, sent.outerHTML)
      replace(part, sent)
    }
  }

  const showConnection = (text, isGood) => {
    connection.hidden = false
    connection.textContent = text
    connection.classList.toggle('lost', !isGood)
  }

  // The number of sent forms. If it changes while a page loads, that page may be out of date.
  let sentForms = 0

  const poll = async () => {
    const started = performance.now()
    if (!document.hidden) {
      const before = sentForms
      try {
        const page = await load()
        if (before === sentForms) update(page)
        showConnection('Live', true)
      } catch {
        showConnection('The mock does not respond', false)
      }
    }
    // The pause is ten times the response time, so that polling does not keep a slow mock busy.
    setTimeout(poll, Math.max(MIN_PAUSE_MS, 10 * (performance.now() - started)))
  }

  document.addEventListener('submit', async (event) => {
    const form = event.target
    // A form that filters a list loads a new page.
    if (form.getAttribute('method') === 'get') return
    event.preventDefault()
    if (form.dataset.busy) return
    form.dataset.busy = 'yes'
    sentForms += 1
    try {
      const page = await load({ method: 'POST', body: new URLSearchParams(new FormData(form, event.submitter)) })
      const sent = page.getElementById('notice')
      notice.className = sent.className
      notice.replaceChildren(...sent.childNodes)
      sentForms += 1
      const hasFailed = page.querySelector('[data-failed]') !== null
      if (!hasFailed) form.reset()
      update(page, true)
      if (hasFailed) document.querySelector('[aria-invalid]')?.focus()
    } catch {
      say('The mock does not respond.', 'alert')
    } finally {
      delete form.dataset.busy
    }
  })

  document.documentElement.classList.add('scripted')
  document.addEventListener('click', async (event) => {
    const button = event.target.closest('[data-copy]')
    if (!button) return
    const text = button.dataset.copy
    // Without TLS, a script can use the clipboard only on localhost. Elsewhere, the user can copy the selected text.
    const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false)
    if (!isCopied && button.previousElementSibling) getSelection().selectAllChildren(button.previousElementSibling)
    say(isCopied ? 'Copied.' : 'The clipboard is not available. Select the text to copy it.', 'done')
  })

  // The sticky header must not cover a link's target or the focused element.
  const head = document.querySelector('header')
  new ResizeObserver(() => {
    const isSticky = getComputedStyle(head).position === 'sticky'
    document.documentElement.style.scrollPaddingTop = isSticky ? head.offsetHeight + 8 + 'px' : ''
  }).observe(head)

  poll()
}
`
