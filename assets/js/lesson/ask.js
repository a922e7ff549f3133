// A question to one of the page's endpoints, as programs ask it.

/**
 * @param {string} name of the endpoint
 * @param {unknown[]} values its arguments in order
 * @returns {Promise<any>} its JSON object
 */
export async function ask(name, values) {
  const address = `gradio_api/call/${name}`,
    headers = {'Content-Type': 'application/json'};
  const response = await fetch(address, {
    method: 'POST',
    headers,
    body: JSON.stringify({data: values}),
  });
  const {event_id: event} = await response.json(),
    told = await (await fetch(`${address}/${event}`)).text();
  const answer = /^event: complete\r?\ndata: (.*)$/m.exec(told);
  if (!answer) throw new Error(`${name} was not answered: ${told.slice(0, 200)}`);
  return JSON.parse(answer[1])[0];
}
