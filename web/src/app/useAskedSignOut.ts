import { App } from 'antd'
import { useSignOut } from '../api/session'
import { useLatest } from '../components/hooks'
import { useI18n } from '../i18n'
import { useApp } from './context'

/** Signs out; asks first when changes of the workbench are kept in this browser only. */
export function useAskedSignOut(): () => Promise<void> {
  const { t } = useI18n()
  const { session } = useApp()
  const { modal } = App.useApp()
  const signOut = useSignOut()
  return useLatest(async () => {
    const unsent = await import('../features/workbench/unsent').then((part) => part.unsent(session.user.id)).catch(() => 0)
    if (unsent === 0) return signOut()
    void modal.confirm({ title: t('bench.signOutTitle'), content: t('bench.signOutText', { n: unsent }), okText: t('user.signOut'), cancelText: t('bench.signOutStay'), onOk: () => signOut() })
  })
}
