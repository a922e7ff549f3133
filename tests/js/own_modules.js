// Node hook that gives each test file its own module instances by a number in their URL; packages are shared.
const OURS = new URL('../../', import.meta.url).href, PACKAGES = new URL('../../node_modules/', import.meta.url).href;

export async function resolve(specifier, context, next) {
  const found = await next(specifier, context), number = context.parentURL?.match(/\?file=\d+$/)?.[0];
  if (!number || !found.url.startsWith(OURS) || found.url.startsWith(PACKAGES) || found.url.includes('?')) return found;
  return {...found, url: found.url + number};
}
