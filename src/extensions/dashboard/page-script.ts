/**
 * The script of the page; all is there without it. A choice in a filter applies at once, and the
 * contents are read again each minute while nobody types, selects or has opened something.
 */
export const PAGE_SCRIPT = `'use strict'
const EVERY_MS = 60000
document.documentElement.classList.add('scripted')
document.addEventListener('change', (event) => {
  const form = event.target.closest('form.filters')
  if (form !== null) form.requestSubmit()
})
// Empty fields stay out of the address.
document.addEventListener('submit', (event) => {
  for (const field of event.target.querySelectorAll('select')) field.disabled = field.value === ''
})
// Back from another page the form is as it was left.
addEventListener('pageshow', () => {
  for (const field of document.querySelectorAll('select')) field.disabled = false
})
const isInUse = () => {
  const main = document.querySelector('main')
  return document.hidden || main.matches(':focus-within') || main.querySelector('details[open]') !== null
    || String(getSelection()) !== ''
}
const refresh = async () => {
  if (isInUse()) return
  const response = await fetch(location.href, { headers: { accept: 'text/html' } })
  if (!response.ok || isInUse()) return
  const read = new DOMParser().parseFromString(await response.text(), 'text/html')
  for (const part of ['main', '.chip']) {
    const [here, there] = [document, read].map((one) => one.querySelector(part))
    if (here !== null && there !== null) here.replaceWith(there)
  }
}
setInterval(() => { refresh().catch(() => {}) }, EVERY_MS)
`
