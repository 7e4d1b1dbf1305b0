// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { Balances as _tollgate_ledger_v1_Balances, Balances__Output as _tollgate_ledger_v1_Balances__Output } from '../../../tollgate/ledger/v1/Balances.ts';
import type { Wallet as _tollgate_ledger_v1_Wallet, Wallet__Output as _tollgate_ledger_v1_Wallet__Output } from '../../../tollgate/ledger/v1/Wallet.ts';

export interface GetWalletResponse {
  'balances'?: (_tollgate_ledger_v1_Balances | null);
  'wallet'?: (_tollgate_ledger_v1_Wallet | null);
}

export interface GetWalletResponse__Output {
  'balances': (_tollgate_ledger_v1_Balances__Output | null);
  'wallet': (_tollgate_ledger_v1_Wallet__Output | null);
}
