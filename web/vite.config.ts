import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'
import { fontPlugin } from './scripts/font'
import { manualsPlugin } from './scripts/manuals'

// `npm run dev` serves the pages and passes the API to a running server ($INGOT_SERVER).
const server = process.env.INGOT_SERVER ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [react(), fontPlugin, manualsPlugin],
  server: { proxy: { '/api': { target: server, changeOrigin: false } } },
  build: {
    target: 'es2022',
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 900,
    rollupOptions: {
      output: {
        manualChunks: {
          react: ['react', 'react-dom', 'react-router', '@tanstack/react-query'],
        },
      },
    },
  },
  test: { include: ['src/**/*.test.ts', 'src/**/*.test.tsx'], environment: 'node', setupFiles: ['src/i18n/loaded.ts'], testTimeout: 60_000 },
})
