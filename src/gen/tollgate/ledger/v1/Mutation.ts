// Original file: proto/tollgate/ledger/v1/ledger.proto

import type { CreateHoldRequest as _tollgate_ledger_v1_CreateHoldRequest, CreateHoldRequest__Output as _tollgate_ledger_v1_CreateHoldRequest__Output } from '../../../tollgate/ledger/v1/CreateHoldRequest.ts';
import type { ExtendHoldRequest as _tollgate_ledger_v1_ExtendHoldRequest, ExtendHoldRequest__Output as _tollgate_ledger_v1_ExtendHoldRequest__Output } from '../../../tollgate/ledger/v1/ExtendHoldRequest.ts';
import type { SettleHoldRequest as _tollgate_ledger_v1_SettleHoldRequest, SettleHoldRequest__Output as _tollgate_ledger_v1_SettleHoldRequest__Output } from '../../../tollgate/ledger/v1/SettleHoldRequest.ts';
import type { ReleaseHoldRequest as _tollgate_ledger_v1_ReleaseHoldRequest, ReleaseHoldRequest__Output as _tollgate_ledger_v1_ReleaseHoldRequest__Output } from '../../../tollgate/ledger/v1/ReleaseHoldRequest.ts';
import type { CreateTopUpRequest as _tollgate_ledger_v1_CreateTopUpRequest, CreateTopUpRequest__Output as _tollgate_ledger_v1_CreateTopUpRequest__Output } from '../../../tollgate/ledger/v1/CreateTopUpRequest.ts';
import type { CreateChargeRequest as _tollgate_ledger_v1_CreateChargeRequest, CreateChargeRequest__Output as _tollgate_ledger_v1_CreateChargeRequest__Output } from '../../../tollgate/ledger/v1/CreateChargeRequest.ts';
import type { CreateRefundRequest as _tollgate_ledger_v1_CreateRefundRequest, CreateRefundRequest__Output as _tollgate_ledger_v1_CreateRefundRequest__Output } from '../../../tollgate/ledger/v1/CreateRefundRequest.ts';
import type { CreateWalletRequest as _tollgate_ledger_v1_CreateWalletRequest, CreateWalletRequest__Output as _tollgate_ledger_v1_CreateWalletRequest__Output } from '../../../tollgate/ledger/v1/CreateWalletRequest.ts';
import type { SetWalletStateRequest as _tollgate_ledger_v1_SetWalletStateRequest, SetWalletStateRequest__Output as _tollgate_ledger_v1_SetWalletStateRequest__Output } from '../../../tollgate/ledger/v1/SetWalletStateRequest.ts';
import type { SetSpendLimitRequest as _tollgate_ledger_v1_SetSpendLimitRequest, SetSpendLimitRequest__Output as _tollgate_ledger_v1_SetSpendLimitRequest__Output } from '../../../tollgate/ledger/v1/SetSpendLimitRequest.ts';
import type { DeleteSpendLimitRequest as _tollgate_ledger_v1_DeleteSpendLimitRequest, DeleteSpendLimitRequest__Output as _tollgate_ledger_v1_DeleteSpendLimitRequest__Output } from '../../../tollgate/ledger/v1/DeleteSpendLimitRequest.ts';

export interface Mutation {
  'createHold'?: (_tollgate_ledger_v1_CreateHoldRequest | null);
  'extendHold'?: (_tollgate_ledger_v1_ExtendHoldRequest | null);
  'settleHold'?: (_tollgate_ledger_v1_SettleHoldRequest | null);
  'releaseHold'?: (_tollgate_ledger_v1_ReleaseHoldRequest | null);
  'createTopUp'?: (_tollgate_ledger_v1_CreateTopUpRequest | null);
  'createCharge'?: (_tollgate_ledger_v1_CreateChargeRequest | null);
  'createRefund'?: (_tollgate_ledger_v1_CreateRefundRequest | null);
  'createWallet'?: (_tollgate_ledger_v1_CreateWalletRequest | null);
  'setWalletState'?: (_tollgate_ledger_v1_SetWalletStateRequest | null);
  'setSpendLimit'?: (_tollgate_ledger_v1_SetSpendLimitRequest | null);
  'deleteSpendLimit'?: (_tollgate_ledger_v1_DeleteSpendLimitRequest | null);
  'traceparent'?: (string);
  'tracestate'?: (string);
  'mutation'?: "createHold"|"extendHold"|"settleHold"|"releaseHold"|"createTopUp"|"createCharge"|"createRefund"|"createWallet"|"setWalletState"|"setSpendLimit"|"deleteSpendLimit";
}

export interface Mutation__Output {
  'createHold'?: (_tollgate_ledger_v1_CreateHoldRequest__Output | null);
  'extendHold'?: (_tollgate_ledger_v1_ExtendHoldRequest__Output | null);
  'settleHold'?: (_tollgate_ledger_v1_SettleHoldRequest__Output | null);
  'releaseHold'?: (_tollgate_ledger_v1_ReleaseHoldRequest__Output | null);
  'createTopUp'?: (_tollgate_ledger_v1_CreateTopUpRequest__Output | null);
  'createCharge'?: (_tollgate_ledger_v1_CreateChargeRequest__Output | null);
  'createRefund'?: (_tollgate_ledger_v1_CreateRefundRequest__Output | null);
  'createWallet'?: (_tollgate_ledger_v1_CreateWalletRequest__Output | null);
  'setWalletState'?: (_tollgate_ledger_v1_SetWalletStateRequest__Output | null);
  'setSpendLimit'?: (_tollgate_ledger_v1_SetSpendLimitRequest__Output | null);
  'deleteSpendLimit'?: (_tollgate_ledger_v1_DeleteSpendLimitRequest__Output | null);
  'traceparent': (string);
  'tracestate': (string);
  'mutation'?: "createHold"|"extendHold"|"settleHold"|"releaseHold"|"createTopUp"|"createCharge"|"createRefund"|"createWallet"|"setWalletState"|"setSpendLimit"|"deleteSpendLimit";
}
