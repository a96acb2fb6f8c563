/** Sets a query parameter of a URL. The rest of the URL stays unchanged (rows 22 and 83). */
export const withParameter = (url: string, name: string, value: string): string => {
  const [address = '', ...fragment] = url.split('#')
  const [path = '', ...query] = address.split('?')
  const kept = query
    .join('?')
    .split('&')
    .filter((pair) => pair !== '' && !new URLSearchParams(pair).has(name))
  const pairs = [...kept, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`].join('&')
  return [`${path}?${pairs}`, ...fragment].join('#')
}
