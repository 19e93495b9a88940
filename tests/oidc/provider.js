// A real OpenID Connect provider on a free port: node provider.js '<settings as JSON>'. Prints its address as the
// first line. Settings: {"clients": [...], "accounts": {"ann": {claims}}, "keys": [JWKs]}; everybody's password is
// accepted by its development login form.
import { createServer } from 'node:http'
import { generateKeyPairSync } from 'node:crypto'
import Provider from 'oidc-provider'

const settings = JSON.parse(process.argv[2])

function jwk(type, options, extra) {
  const { privateKey } = generateKeyPairSync(type, options)
  return { ...privateKey.export({ format: 'jwk' }), ...extra }
}

let handle = null
const server = createServer((request, response) => handle(request, response))
server.listen(0, '127.0.0.1', () => {
  const issuer = `http://127.0.0.1:${server.address().port}`
  const provider = new Provider(issuer, {
    clients: settings.clients,
    jwks: {
      keys: [
        jwk('rsa', { modulusLength: 2048 }, { use: 'sig', alg: 'RS256', kid: 'rsa-1' }),
        jwk('ec', { namedCurve: 'P-256' }, { use: 'sig', alg: 'ES256', kid: 'ec-1' }),
      ],
    },
    cookies: { keys: ['only for tests'] },
    claims: { openid: ['sub'], profile: ['preferred_username'], email: ['email', 'email_verified'] },
    // Claims in the id_token too, unless a test wants the userinfo endpoint to be asked.
    conformIdTokenClaims: settings.userinfoOnly === true,
    pkce: { methods: ['S256'], required: () => true },
    features: { devInteractions: { enabled: true } },
    enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256'] },
    findAccount: (context, id) => ({ accountId: id, claims: () => ({ sub: id, ...settings.accounts[id] }) }),
  })
  handle = provider.callback()
  console.log(issuer)
})
