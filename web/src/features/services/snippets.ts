/** Commands that work when copied, once $INGOT_KEY holds a key of the service. */
export function snippets(address: string, model: boolean): { name: string; text: string }[] {
  const url = model ? `${address}/predict` : `${address}/`
  const curl = model
    ? `curl -H "Authorization: Bearer $INGOT_KEY" --data-binary @picture.jpg \\\n  ${url}`
    : `curl -H "Authorization: Bearer $INGOT_KEY" ${url}`
  const python = model
    ? `import os, requests\n\nanswer = requests.post(\n    "${url}",\n    headers={"Authorization": "Bearer " + os.environ["INGOT_KEY"]},\n    data=open("picture.jpg", "rb"),\n)\nprint(answer.json()["annotation"])`
    : `import os, requests\n\nanswer = requests.get(\n    "${url}",\n    headers={"Authorization": "Bearer " + os.environ["INGOT_KEY"]},\n)\nprint(answer.status_code, answer.text)`
  const javascript = model
    ? `import { readFile } from 'node:fs/promises'\n\nconst answer = await fetch('${url}', {\n  method: 'POST',\n  headers: { Authorization: \`Bearer \${process.env.INGOT_KEY}\` },\n  body: await readFile('picture.jpg'),\n})\nconsole.log((await answer.json()).annotation)`
    : `const answer = await fetch('${url}', {\n  headers: { Authorization: \`Bearer \${process.env.INGOT_KEY}\` },\n})\nconsole.log(answer.status, await answer.text())`
  return [{ name: 'curl', text: curl }, { name: 'Python', text: python }, { name: 'JavaScript', text: javascript }]
}
