// Node's hook by which each test file has modules of its own: theirs carry its number, those of packages none.
const OURS = new URL('../../', import.meta.url).href, PACKAGES = new URL('../../node_modules/', import.meta.url).href;

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context), number = context.parentURL?.match(/\?file=\d+$/)?.[0];
  if (!number || !found.url.startsWith(OURS) || found.url.startsWith(PACKAGES) || found.url.includes('?')) return found;
  return {...found, url: found.url + number};
}
