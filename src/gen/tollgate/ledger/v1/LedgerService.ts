// Original file: proto/tollgate/ledger/v1/ledger.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { BatchMutateRequest as _tollgate_ledger_v1_BatchMutateRequest, BatchMutateRequest__Output as _tollgate_ledger_v1_BatchMutateRequest__Output } from '../../../tollgate/ledger/v1/BatchMutateRequest.ts';
import type { BatchMutateResponse as _tollgate_ledger_v1_BatchMutateResponse, BatchMutateResponse__Output as _tollgate_ledger_v1_BatchMutateResponse__Output } from '../../../tollgate/ledger/v1/BatchMutateResponse.ts';
import type { CreateChargeRequest as _tollgate_ledger_v1_CreateChargeRequest, CreateChargeRequest__Output as _tollgate_ledger_v1_CreateChargeRequest__Output } from '../../../tollgate/ledger/v1/CreateChargeRequest.ts';
import type { CreateChargeResponse as _tollgate_ledger_v1_CreateChargeResponse, CreateChargeResponse__Output as _tollgate_ledger_v1_CreateChargeResponse__Output } from '../../../tollgate/ledger/v1/CreateChargeResponse.ts';
import type { CreateHoldRequest as _tollgate_ledger_v1_CreateHoldRequest, CreateHoldRequest__Output as _tollgate_ledger_v1_CreateHoldRequest__Output } from '../../../tollgate/ledger/v1/CreateHoldRequest.ts';
import type { CreateHoldResponse as _tollgate_ledger_v1_CreateHoldResponse, CreateHoldResponse__Output as _tollgate_ledger_v1_CreateHoldResponse__Output } from '../../../tollgate/ledger/v1/CreateHoldResponse.ts';
import type { CreateRefundRequest as _tollgate_ledger_v1_CreateRefundRequest, CreateRefundRequest__Output as _tollgate_ledger_v1_CreateRefundRequest__Output } from '../../../tollgate/ledger/v1/CreateRefundRequest.ts';
import type { CreateRefundResponse as _tollgate_ledger_v1_CreateRefundResponse, CreateRefundResponse__Output as _tollgate_ledger_v1_CreateRefundResponse__Output } from '../../../tollgate/ledger/v1/CreateRefundResponse.ts';
import type { CreateTopUpRequest as _tollgate_ledger_v1_CreateTopUpRequest, CreateTopUpRequest__Output as _tollgate_ledger_v1_CreateTopUpRequest__Output } from '../../../tollgate/ledger/v1/CreateTopUpRequest.ts';
import type { CreateTopUpResponse as _tollgate_ledger_v1_CreateTopUpResponse, CreateTopUpResponse__Output as _tollgate_ledger_v1_CreateTopUpResponse__Output } from '../../../tollgate/ledger/v1/CreateTopUpResponse.ts';
import type { CreateWalletRequest as _tollgate_ledger_v1_CreateWalletRequest, CreateWalletRequest__Output as _tollgate_ledger_v1_CreateWalletRequest__Output } from '../../../tollgate/ledger/v1/CreateWalletRequest.ts';
import type { CreateWalletResponse as _tollgate_ledger_v1_CreateWalletResponse, CreateWalletResponse__Output as _tollgate_ledger_v1_CreateWalletResponse__Output } from '../../../tollgate/ledger/v1/CreateWalletResponse.ts';
import type { DeleteSpendLimitRequest as _tollgate_ledger_v1_DeleteSpendLimitRequest, DeleteSpendLimitRequest__Output as _tollgate_ledger_v1_DeleteSpendLimitRequest__Output } from '../../../tollgate/ledger/v1/DeleteSpendLimitRequest.ts';
import type { DeleteSpendLimitResponse as _tollgate_ledger_v1_DeleteSpendLimitResponse, DeleteSpendLimitResponse__Output as _tollgate_ledger_v1_DeleteSpendLimitResponse__Output } from '../../../tollgate/ledger/v1/DeleteSpendLimitResponse.ts';
import type { ExtendHoldRequest as _tollgate_ledger_v1_ExtendHoldRequest, ExtendHoldRequest__Output as _tollgate_ledger_v1_ExtendHoldRequest__Output } from '../../../tollgate/ledger/v1/ExtendHoldRequest.ts';
import type { ExtendHoldResponse as _tollgate_ledger_v1_ExtendHoldResponse, ExtendHoldResponse__Output as _tollgate_ledger_v1_ExtendHoldResponse__Output } from '../../../tollgate/ledger/v1/ExtendHoldResponse.ts';
import type { FindHoldsRequest as _tollgate_ledger_v1_FindHoldsRequest, FindHoldsRequest__Output as _tollgate_ledger_v1_FindHoldsRequest__Output } from '../../../tollgate/ledger/v1/FindHoldsRequest.ts';
import type { FindHoldsResponse as _tollgate_ledger_v1_FindHoldsResponse, FindHoldsResponse__Output as _tollgate_ledger_v1_FindHoldsResponse__Output } from '../../../tollgate/ledger/v1/FindHoldsResponse.ts';
import type { GetHoldRequest as _tollgate_ledger_v1_GetHoldRequest, GetHoldRequest__Output as _tollgate_ledger_v1_GetHoldRequest__Output } from '../../../tollgate/ledger/v1/GetHoldRequest.ts';
import type { GetHoldResponse as _tollgate_ledger_v1_GetHoldResponse, GetHoldResponse__Output as _tollgate_ledger_v1_GetHoldResponse__Output } from '../../../tollgate/ledger/v1/GetHoldResponse.ts';
import type { GetRollUpsRequest as _tollgate_ledger_v1_GetRollUpsRequest, GetRollUpsRequest__Output as _tollgate_ledger_v1_GetRollUpsRequest__Output } from '../../../tollgate/ledger/v1/GetRollUpsRequest.ts';
import type { GetRollUpsResponse as _tollgate_ledger_v1_GetRollUpsResponse, GetRollUpsResponse__Output as _tollgate_ledger_v1_GetRollUpsResponse__Output } from '../../../tollgate/ledger/v1/GetRollUpsResponse.ts';
import type { GetWalletRequest as _tollgate_ledger_v1_GetWalletRequest, GetWalletRequest__Output as _tollgate_ledger_v1_GetWalletRequest__Output } from '../../../tollgate/ledger/v1/GetWalletRequest.ts';
import type { GetWalletResponse as _tollgate_ledger_v1_GetWalletResponse, GetWalletResponse__Output as _tollgate_ledger_v1_GetWalletResponse__Output } from '../../../tollgate/ledger/v1/GetWalletResponse.ts';
import type { ListCreditsRequest as _tollgate_ledger_v1_ListCreditsRequest, ListCreditsRequest__Output as _tollgate_ledger_v1_ListCreditsRequest__Output } from '../../../tollgate/ledger/v1/ListCreditsRequest.ts';
import type { ListCreditsResponse as _tollgate_ledger_v1_ListCreditsResponse, ListCreditsResponse__Output as _tollgate_ledger_v1_ListCreditsResponse__Output } from '../../../tollgate/ledger/v1/ListCreditsResponse.ts';
import type { ListFullLimitsRequest as _tollgate_ledger_v1_ListFullLimitsRequest, ListFullLimitsRequest__Output as _tollgate_ledger_v1_ListFullLimitsRequest__Output } from '../../../tollgate/ledger/v1/ListFullLimitsRequest.ts';
import type { ListFullLimitsResponse as _tollgate_ledger_v1_ListFullLimitsResponse, ListFullLimitsResponse__Output as _tollgate_ledger_v1_ListFullLimitsResponse__Output } from '../../../tollgate/ledger/v1/ListFullLimitsResponse.ts';
import type { ListHoldsRequest as _tollgate_ledger_v1_ListHoldsRequest, ListHoldsRequest__Output as _tollgate_ledger_v1_ListHoldsRequest__Output } from '../../../tollgate/ledger/v1/ListHoldsRequest.ts';
import type { ListHoldsResponse as _tollgate_ledger_v1_ListHoldsResponse, ListHoldsResponse__Output as _tollgate_ledger_v1_ListHoldsResponse__Output } from '../../../tollgate/ledger/v1/ListHoldsResponse.ts';
import type { ListRunningHoldsRequest as _tollgate_ledger_v1_ListRunningHoldsRequest, ListRunningHoldsRequest__Output as _tollgate_ledger_v1_ListRunningHoldsRequest__Output } from '../../../tollgate/ledger/v1/ListRunningHoldsRequest.ts';
import type { ListRunningHoldsResponse as _tollgate_ledger_v1_ListRunningHoldsResponse, ListRunningHoldsResponse__Output as _tollgate_ledger_v1_ListRunningHoldsResponse__Output } from '../../../tollgate/ledger/v1/ListRunningHoldsResponse.ts';
import type { ListSpendLimitsRequest as _tollgate_ledger_v1_ListSpendLimitsRequest, ListSpendLimitsRequest__Output as _tollgate_ledger_v1_ListSpendLimitsRequest__Output } from '../../../tollgate/ledger/v1/ListSpendLimitsRequest.ts';
import type { ListSpendLimitsResponse as _tollgate_ledger_v1_ListSpendLimitsResponse, ListSpendLimitsResponse__Output as _tollgate_ledger_v1_ListSpendLimitsResponse__Output } from '../../../tollgate/ledger/v1/ListSpendLimitsResponse.ts';
import type { ListTransfersRequest as _tollgate_ledger_v1_ListTransfersRequest, ListTransfersRequest__Output as _tollgate_ledger_v1_ListTransfersRequest__Output } from '../../../tollgate/ledger/v1/ListTransfersRequest.ts';
import type { ListTransfersResponse as _tollgate_ledger_v1_ListTransfersResponse, ListTransfersResponse__Output as _tollgate_ledger_v1_ListTransfersResponse__Output } from '../../../tollgate/ledger/v1/ListTransfersResponse.ts';
import type { ListWalletsRequest as _tollgate_ledger_v1_ListWalletsRequest, ListWalletsRequest__Output as _tollgate_ledger_v1_ListWalletsRequest__Output } from '../../../tollgate/ledger/v1/ListWalletsRequest.ts';
import type { ListWalletsResponse as _tollgate_ledger_v1_ListWalletsResponse, ListWalletsResponse__Output as _tollgate_ledger_v1_ListWalletsResponse__Output } from '../../../tollgate/ledger/v1/ListWalletsResponse.ts';
import type { PingRequest as _tollgate_ledger_v1_PingRequest, PingRequest__Output as _tollgate_ledger_v1_PingRequest__Output } from '../../../tollgate/ledger/v1/PingRequest.ts';
import type { PingResponse as _tollgate_ledger_v1_PingResponse, PingResponse__Output as _tollgate_ledger_v1_PingResponse__Output } from '../../../tollgate/ledger/v1/PingResponse.ts';
import type { QueryUsageRequest as _tollgate_ledger_v1_QueryUsageRequest, QueryUsageRequest__Output as _tollgate_ledger_v1_QueryUsageRequest__Output } from '../../../tollgate/ledger/v1/QueryUsageRequest.ts';
import type { QueryUsageResponse as _tollgate_ledger_v1_QueryUsageResponse, QueryUsageResponse__Output as _tollgate_ledger_v1_QueryUsageResponse__Output } from '../../../tollgate/ledger/v1/QueryUsageResponse.ts';
import type { ReleaseHoldRequest as _tollgate_ledger_v1_ReleaseHoldRequest, ReleaseHoldRequest__Output as _tollgate_ledger_v1_ReleaseHoldRequest__Output } from '../../../tollgate/ledger/v1/ReleaseHoldRequest.ts';
import type { ReleaseHoldResponse as _tollgate_ledger_v1_ReleaseHoldResponse, ReleaseHoldResponse__Output as _tollgate_ledger_v1_ReleaseHoldResponse__Output } from '../../../tollgate/ledger/v1/ReleaseHoldResponse.ts';
import type { SetSpendLimitRequest as _tollgate_ledger_v1_SetSpendLimitRequest, SetSpendLimitRequest__Output as _tollgate_ledger_v1_SetSpendLimitRequest__Output } from '../../../tollgate/ledger/v1/SetSpendLimitRequest.ts';
import type { SetSpendLimitResponse as _tollgate_ledger_v1_SetSpendLimitResponse, SetSpendLimitResponse__Output as _tollgate_ledger_v1_SetSpendLimitResponse__Output } from '../../../tollgate/ledger/v1/SetSpendLimitResponse.ts';
import type { SetWalletStateRequest as _tollgate_ledger_v1_SetWalletStateRequest, SetWalletStateRequest__Output as _tollgate_ledger_v1_SetWalletStateRequest__Output } from '../../../tollgate/ledger/v1/SetWalletStateRequest.ts';
import type { SetWalletStateResponse as _tollgate_ledger_v1_SetWalletStateResponse, SetWalletStateResponse__Output as _tollgate_ledger_v1_SetWalletStateResponse__Output } from '../../../tollgate/ledger/v1/SetWalletStateResponse.ts';
import type { SettleHoldRequest as _tollgate_ledger_v1_SettleHoldRequest, SettleHoldRequest__Output as _tollgate_ledger_v1_SettleHoldRequest__Output } from '../../../tollgate/ledger/v1/SettleHoldRequest.ts';
import type { SettleHoldResponse as _tollgate_ledger_v1_SettleHoldResponse, SettleHoldResponse__Output as _tollgate_ledger_v1_SettleHoldResponse__Output } from '../../../tollgate/ledger/v1/SettleHoldResponse.ts';
import type { StreamMutationsRequest as _tollgate_ledger_v1_StreamMutationsRequest, StreamMutationsRequest__Output as _tollgate_ledger_v1_StreamMutationsRequest__Output } from '../../../tollgate/ledger/v1/StreamMutationsRequest.ts';
import type { StreamMutationsResponse as _tollgate_ledger_v1_StreamMutationsResponse, StreamMutationsResponse__Output as _tollgate_ledger_v1_StreamMutationsResponse__Output } from '../../../tollgate/ledger/v1/StreamMutationsResponse.ts';
import type { SumCreditsRequest as _tollgate_ledger_v1_SumCreditsRequest, SumCreditsRequest__Output as _tollgate_ledger_v1_SumCreditsRequest__Output } from '../../../tollgate/ledger/v1/SumCreditsRequest.ts';
import type { SumCreditsResponse as _tollgate_ledger_v1_SumCreditsResponse, SumCreditsResponse__Output as _tollgate_ledger_v1_SumCreditsResponse__Output } from '../../../tollgate/ledger/v1/SumCreditsResponse.ts';
import type { SumRunningHoldsRequest as _tollgate_ledger_v1_SumRunningHoldsRequest, SumRunningHoldsRequest__Output as _tollgate_ledger_v1_SumRunningHoldsRequest__Output } from '../../../tollgate/ledger/v1/SumRunningHoldsRequest.ts';
import type { SumRunningHoldsResponse as _tollgate_ledger_v1_SumRunningHoldsResponse, SumRunningHoldsResponse__Output as _tollgate_ledger_v1_SumRunningHoldsResponse__Output } from '../../../tollgate/ledger/v1/SumRunningHoldsResponse.ts';
import type { SumTransfersByScopeRequest as _tollgate_ledger_v1_SumTransfersByScopeRequest, SumTransfersByScopeRequest__Output as _tollgate_ledger_v1_SumTransfersByScopeRequest__Output } from '../../../tollgate/ledger/v1/SumTransfersByScopeRequest.ts';
import type { SumTransfersByScopeResponse as _tollgate_ledger_v1_SumTransfersByScopeResponse, SumTransfersByScopeResponse__Output as _tollgate_ledger_v1_SumTransfersByScopeResponse__Output } from '../../../tollgate/ledger/v1/SumTransfersByScopeResponse.ts';
import type { SumTransfersRequest as _tollgate_ledger_v1_SumTransfersRequest, SumTransfersRequest__Output as _tollgate_ledger_v1_SumTransfersRequest__Output } from '../../../tollgate/ledger/v1/SumTransfersRequest.ts';
import type { SumTransfersResponse as _tollgate_ledger_v1_SumTransfersResponse, SumTransfersResponse__Output as _tollgate_ledger_v1_SumTransfersResponse__Output } from '../../../tollgate/ledger/v1/SumTransfersResponse.ts';

export interface LedgerServiceClient extends grpc.Client {
  BatchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  BatchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  BatchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  BatchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  batchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  batchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  batchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  batchMutate(argument: _tollgate_ledger_v1_BatchMutateRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_BatchMutateResponse__Output>): grpc.ClientUnaryCall;
  
  CreateCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  CreateCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  CreateCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  CreateCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  createCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  createCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  createCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  createCharge(argument: _tollgate_ledger_v1_CreateChargeRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateChargeResponse__Output>): grpc.ClientUnaryCall;
  
  CreateHold(argument: _tollgate_ledger_v1_CreateHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  CreateHold(argument: _tollgate_ledger_v1_CreateHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  CreateHold(argument: _tollgate_ledger_v1_CreateHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  CreateHold(argument: _tollgate_ledger_v1_CreateHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  createHold(argument: _tollgate_ledger_v1_CreateHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  createHold(argument: _tollgate_ledger_v1_CreateHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  createHold(argument: _tollgate_ledger_v1_CreateHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  createHold(argument: _tollgate_ledger_v1_CreateHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateHoldResponse__Output>): grpc.ClientUnaryCall;
  
  CreateRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  CreateRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  CreateRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  CreateRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  createRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  createRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  createRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  createRefund(argument: _tollgate_ledger_v1_CreateRefundRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateRefundResponse__Output>): grpc.ClientUnaryCall;
  
  CreateTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  CreateTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  CreateTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  CreateTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  createTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  createTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  createTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  createTopUp(argument: _tollgate_ledger_v1_CreateTopUpRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateTopUpResponse__Output>): grpc.ClientUnaryCall;
  
  CreateWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  CreateWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  CreateWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  CreateWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  createWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  createWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  createWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  createWallet(argument: _tollgate_ledger_v1_CreateWalletRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_CreateWalletResponse__Output>): grpc.ClientUnaryCall;
  
  DeleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  DeleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  DeleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  DeleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  deleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  deleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  deleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  deleteSpendLimit(argument: _tollgate_ledger_v1_DeleteSpendLimitRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_DeleteSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  
  ExtendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  ExtendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  ExtendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  ExtendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  extendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  extendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  extendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  extendHold(argument: _tollgate_ledger_v1_ExtendHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ExtendHoldResponse__Output>): grpc.ClientUnaryCall;
  
  FindHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  FindHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  FindHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  FindHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  findHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  findHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  findHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  findHolds(argument: _tollgate_ledger_v1_FindHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_FindHoldsResponse__Output>): grpc.ClientUnaryCall;
  
  GetHold(argument: _tollgate_ledger_v1_GetHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  GetHold(argument: _tollgate_ledger_v1_GetHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  GetHold(argument: _tollgate_ledger_v1_GetHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  GetHold(argument: _tollgate_ledger_v1_GetHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  getHold(argument: _tollgate_ledger_v1_GetHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  getHold(argument: _tollgate_ledger_v1_GetHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  getHold(argument: _tollgate_ledger_v1_GetHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  getHold(argument: _tollgate_ledger_v1_GetHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_GetHoldResponse__Output>): grpc.ClientUnaryCall;
  
  GetRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  GetRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  GetRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  GetRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  getRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  getRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  getRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  getRollUps(argument: _tollgate_ledger_v1_GetRollUpsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_GetRollUpsResponse__Output>): grpc.ClientUnaryCall;
  
  GetWallet(argument: _tollgate_ledger_v1_GetWalletRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  GetWallet(argument: _tollgate_ledger_v1_GetWalletRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  GetWallet(argument: _tollgate_ledger_v1_GetWalletRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  GetWallet(argument: _tollgate_ledger_v1_GetWalletRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  getWallet(argument: _tollgate_ledger_v1_GetWalletRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  getWallet(argument: _tollgate_ledger_v1_GetWalletRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  getWallet(argument: _tollgate_ledger_v1_GetWalletRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  getWallet(argument: _tollgate_ledger_v1_GetWalletRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_GetWalletResponse__Output>): grpc.ClientUnaryCall;
  
  ListCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  ListCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  ListCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  ListCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  listCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  listCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  listCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  listCredits(argument: _tollgate_ledger_v1_ListCreditsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListCreditsResponse__Output>): grpc.ClientUnaryCall;
  
  ListFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  ListFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  ListFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  ListFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  listFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  listFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  listFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  listFullLimits(argument: _tollgate_ledger_v1_ListFullLimitsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListFullLimitsResponse__Output>): grpc.ClientUnaryCall;
  
  ListHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  ListHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  ListHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  ListHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  listHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  listHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  listHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  listHolds(argument: _tollgate_ledger_v1_ListHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListHoldsResponse__Output>): grpc.ClientUnaryCall;
  
  ListRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  ListRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  ListRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  ListRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  listRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  listRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  listRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  listRunningHolds(argument: _tollgate_ledger_v1_ListRunningHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  
  ListSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  ListSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  ListSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  ListSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  listSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  listSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  listSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  listSpendLimits(argument: _tollgate_ledger_v1_ListSpendLimitsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListSpendLimitsResponse__Output>): grpc.ClientUnaryCall;
  
  ListTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  ListTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  ListTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  ListTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  listTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  listTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  listTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  listTransfers(argument: _tollgate_ledger_v1_ListTransfersRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListTransfersResponse__Output>): grpc.ClientUnaryCall;
  
  ListWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  ListWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  ListWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  ListWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  listWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  listWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  listWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  listWallets(argument: _tollgate_ledger_v1_ListWalletsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ListWalletsResponse__Output>): grpc.ClientUnaryCall;
  
  Ping(argument: _tollgate_ledger_v1_PingRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  Ping(argument: _tollgate_ledger_v1_PingRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  Ping(argument: _tollgate_ledger_v1_PingRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  Ping(argument: _tollgate_ledger_v1_PingRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  ping(argument: _tollgate_ledger_v1_PingRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  ping(argument: _tollgate_ledger_v1_PingRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  ping(argument: _tollgate_ledger_v1_PingRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  ping(argument: _tollgate_ledger_v1_PingRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_PingResponse__Output>): grpc.ClientUnaryCall;
  
  QueryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  QueryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  QueryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  QueryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  queryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  queryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  queryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  queryUsage(argument: _tollgate_ledger_v1_QueryUsageRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_QueryUsageResponse__Output>): grpc.ClientUnaryCall;
  
  ReleaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  ReleaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  ReleaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  ReleaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  releaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  releaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  releaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  releaseHold(argument: _tollgate_ledger_v1_ReleaseHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_ReleaseHoldResponse__Output>): grpc.ClientUnaryCall;
  
  SetSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  SetSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  SetSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  SetSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  setSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  setSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  setSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  setSpendLimit(argument: _tollgate_ledger_v1_SetSpendLimitRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SetSpendLimitResponse__Output>): grpc.ClientUnaryCall;
  
  SetWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  SetWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  SetWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  SetWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  setWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  setWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  setWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  setWalletState(argument: _tollgate_ledger_v1_SetWalletStateRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SetWalletStateResponse__Output>): grpc.ClientUnaryCall;
  
  SettleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  SettleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  SettleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  SettleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  settleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  settleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  settleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  settleHold(argument: _tollgate_ledger_v1_SettleHoldRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SettleHoldResponse__Output>): grpc.ClientUnaryCall;
  
  StreamMutations(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollgate_ledger_v1_StreamMutationsRequest, _tollgate_ledger_v1_StreamMutationsResponse__Output>;
  StreamMutations(options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollgate_ledger_v1_StreamMutationsRequest, _tollgate_ledger_v1_StreamMutationsResponse__Output>;
  streamMutations(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollgate_ledger_v1_StreamMutationsRequest, _tollgate_ledger_v1_StreamMutationsResponse__Output>;
  streamMutations(options?: grpc.CallOptions): grpc.ClientDuplexStream<_tollgate_ledger_v1_StreamMutationsRequest, _tollgate_ledger_v1_StreamMutationsResponse__Output>;
  
  SumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  SumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  SumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  SumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  sumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  sumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  sumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  sumCredits(argument: _tollgate_ledger_v1_SumCreditsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumCreditsResponse__Output>): grpc.ClientUnaryCall;
  
  SumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  SumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  SumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  SumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  sumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  sumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  sumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  sumRunningHolds(argument: _tollgate_ledger_v1_SumRunningHoldsRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumRunningHoldsResponse__Output>): grpc.ClientUnaryCall;
  
  SumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  SumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  SumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  SumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  sumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  sumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  sumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  sumTransfers(argument: _tollgate_ledger_v1_SumTransfersRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersResponse__Output>): grpc.ClientUnaryCall;
  
  SumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  SumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  SumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  SumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  sumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  sumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, metadata: grpc.Metadata, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  sumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, options: grpc.CallOptions, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  sumTransfersByScope(argument: _tollgate_ledger_v1_SumTransfersByScopeRequest, callback: grpc.requestCallback<_tollgate_ledger_v1_SumTransfersByScopeResponse__Output>): grpc.ClientUnaryCall;
  
}

export interface LedgerServiceHandlers extends grpc.UntypedServiceImplementation {
  BatchMutate: grpc.handleUnaryCall<_tollgate_ledger_v1_BatchMutateRequest__Output, _tollgate_ledger_v1_BatchMutateResponse>;
  
  CreateCharge: grpc.handleUnaryCall<_tollgate_ledger_v1_CreateChargeRequest__Output, _tollgate_ledger_v1_CreateChargeResponse>;
  
  CreateHold: grpc.handleUnaryCall<_tollgate_ledger_v1_CreateHoldRequest__Output, _tollgate_ledger_v1_CreateHoldResponse>;
  
  CreateRefund: grpc.handleUnaryCall<_tollgate_ledger_v1_CreateRefundRequest__Output, _tollgate_ledger_v1_CreateRefundResponse>;
  
  CreateTopUp: grpc.handleUnaryCall<_tollgate_ledger_v1_CreateTopUpRequest__Output, _tollgate_ledger_v1_CreateTopUpResponse>;
  
  CreateWallet: grpc.handleUnaryCall<_tollgate_ledger_v1_CreateWalletRequest__Output, _tollgate_ledger_v1_CreateWalletResponse>;
  
  DeleteSpendLimit: grpc.handleUnaryCall<_tollgate_ledger_v1_DeleteSpendLimitRequest__Output, _tollgate_ledger_v1_DeleteSpendLimitResponse>;
  
  ExtendHold: grpc.handleUnaryCall<_tollgate_ledger_v1_ExtendHoldRequest__Output, _tollgate_ledger_v1_ExtendHoldResponse>;
  
  FindHolds: grpc.handleUnaryCall<_tollgate_ledger_v1_FindHoldsRequest__Output, _tollgate_ledger_v1_FindHoldsResponse>;
  
  GetHold: grpc.handleUnaryCall<_tollgate_ledger_v1_GetHoldRequest__Output, _tollgate_ledger_v1_GetHoldResponse>;
  
  GetRollUps: grpc.handleUnaryCall<_tollgate_ledger_v1_GetRollUpsRequest__Output, _tollgate_ledger_v1_GetRollUpsResponse>;
  
  GetWallet: grpc.handleUnaryCall<_tollgate_ledger_v1_GetWalletRequest__Output, _tollgate_ledger_v1_GetWalletResponse>;
  
  ListCredits: grpc.handleUnaryCall<_tollgate_ledger_v1_ListCreditsRequest__Output, _tollgate_ledger_v1_ListCreditsResponse>;
  
  ListFullLimits: grpc.handleUnaryCall<_tollgate_ledger_v1_ListFullLimitsRequest__Output, _tollgate_ledger_v1_ListFullLimitsResponse>;
  
  ListHolds: grpc.handleUnaryCall<_tollgate_ledger_v1_ListHoldsRequest__Output, _tollgate_ledger_v1_ListHoldsResponse>;
  
  ListRunningHolds: grpc.handleUnaryCall<_tollgate_ledger_v1_ListRunningHoldsRequest__Output, _tollgate_ledger_v1_ListRunningHoldsResponse>;
  
  ListSpendLimits: grpc.handleUnaryCall<_tollgate_ledger_v1_ListSpendLimitsRequest__Output, _tollgate_ledger_v1_ListSpendLimitsResponse>;
  
  ListTransfers: grpc.handleUnaryCall<_tollgate_ledger_v1_ListTransfersRequest__Output, _tollgate_ledger_v1_ListTransfersResponse>;
  
  ListWallets: grpc.handleUnaryCall<_tollgate_ledger_v1_ListWalletsRequest__Output, _tollgate_ledger_v1_ListWalletsResponse>;
  
  Ping: grpc.handleUnaryCall<_tollgate_ledger_v1_PingRequest__Output, _tollgate_ledger_v1_PingResponse>;
  
  QueryUsage: grpc.handleUnaryCall<_tollgate_ledger_v1_QueryUsageRequest__Output, _tollgate_ledger_v1_QueryUsageResponse>;
  
  ReleaseHold: grpc.handleUnaryCall<_tollgate_ledger_v1_ReleaseHoldRequest__Output, _tollgate_ledger_v1_ReleaseHoldResponse>;
  
  SetSpendLimit: grpc.handleUnaryCall<_tollgate_ledger_v1_SetSpendLimitRequest__Output, _tollgate_ledger_v1_SetSpendLimitResponse>;
  
  SetWalletState: grpc.handleUnaryCall<_tollgate_ledger_v1_SetWalletStateRequest__Output, _tollgate_ledger_v1_SetWalletStateResponse>;
  
  SettleHold: grpc.handleUnaryCall<_tollgate_ledger_v1_SettleHoldRequest__Output, _tollgate_ledger_v1_SettleHoldResponse>;
  
  StreamMutations: grpc.handleBidiStreamingCall<_tollgate_ledger_v1_StreamMutationsRequest__Output, _tollgate_ledger_v1_StreamMutationsResponse>;
  
  SumCredits: grpc.handleUnaryCall<_tollgate_ledger_v1_SumCreditsRequest__Output, _tollgate_ledger_v1_SumCreditsResponse>;
  
  SumRunningHolds: grpc.handleUnaryCall<_tollgate_ledger_v1_SumRunningHoldsRequest__Output, _tollgate_ledger_v1_SumRunningHoldsResponse>;
  
  SumTransfers: grpc.handleUnaryCall<_tollgate_ledger_v1_SumTransfersRequest__Output, _tollgate_ledger_v1_SumTransfersResponse>;
  
  SumTransfersByScope: grpc.handleUnaryCall<_tollgate_ledger_v1_SumTransfersByScopeRequest__Output, _tollgate_ledger_v1_SumTransfersByScopeResponse>;
  
}

export interface LedgerServiceDefinition extends grpc.ServiceDefinition {
  BatchMutate: MethodDefinition<_tollgate_ledger_v1_BatchMutateRequest, _tollgate_ledger_v1_BatchMutateResponse, _tollgate_ledger_v1_BatchMutateRequest__Output, _tollgate_ledger_v1_BatchMutateResponse__Output>
  CreateCharge: MethodDefinition<_tollgate_ledger_v1_CreateChargeRequest, _tollgate_ledger_v1_CreateChargeResponse, _tollgate_ledger_v1_CreateChargeRequest__Output, _tollgate_ledger_v1_CreateChargeResponse__Output>
  CreateHold: MethodDefinition<_tollgate_ledger_v1_CreateHoldRequest, _tollgate_ledger_v1_CreateHoldResponse, _tollgate_ledger_v1_CreateHoldRequest__Output, _tollgate_ledger_v1_CreateHoldResponse__Output>
  CreateRefund: MethodDefinition<_tollgate_ledger_v1_CreateRefundRequest, _tollgate_ledger_v1_CreateRefundResponse, _tollgate_ledger_v1_CreateRefundRequest__Output, _tollgate_ledger_v1_CreateRefundResponse__Output>
  CreateTopUp: MethodDefinition<_tollgate_ledger_v1_CreateTopUpRequest, _tollgate_ledger_v1_CreateTopUpResponse, _tollgate_ledger_v1_CreateTopUpRequest__Output, _tollgate_ledger_v1_CreateTopUpResponse__Output>
  CreateWallet: MethodDefinition<_tollgate_ledger_v1_CreateWalletRequest, _tollgate_ledger_v1_CreateWalletResponse, _tollgate_ledger_v1_CreateWalletRequest__Output, _tollgate_ledger_v1_CreateWalletResponse__Output>
  DeleteSpendLimit: MethodDefinition<_tollgate_ledger_v1_DeleteSpendLimitRequest, _tollgate_ledger_v1_DeleteSpendLimitResponse, _tollgate_ledger_v1_DeleteSpendLimitRequest__Output, _tollgate_ledger_v1_DeleteSpendLimitResponse__Output>
  ExtendHold: MethodDefinition<_tollgate_ledger_v1_ExtendHoldRequest, _tollgate_ledger_v1_ExtendHoldResponse, _tollgate_ledger_v1_ExtendHoldRequest__Output, _tollgate_ledger_v1_ExtendHoldResponse__Output>
  FindHolds: MethodDefinition<_tollgate_ledger_v1_FindHoldsRequest, _tollgate_ledger_v1_FindHoldsResponse, _tollgate_ledger_v1_FindHoldsRequest__Output, _tollgate_ledger_v1_FindHoldsResponse__Output>
  GetHold: MethodDefinition<_tollgate_ledger_v1_GetHoldRequest, _tollgate_ledger_v1_GetHoldResponse, _tollgate_ledger_v1_GetHoldRequest__Output, _tollgate_ledger_v1_GetHoldResponse__Output>
  GetRollUps: MethodDefinition<_tollgate_ledger_v1_GetRollUpsRequest, _tollgate_ledger_v1_GetRollUpsResponse, _tollgate_ledger_v1_GetRollUpsRequest__Output, _tollgate_ledger_v1_GetRollUpsResponse__Output>
  GetWallet: MethodDefinition<_tollgate_ledger_v1_GetWalletRequest, _tollgate_ledger_v1_GetWalletResponse, _tollgate_ledger_v1_GetWalletRequest__Output, _tollgate_ledger_v1_GetWalletResponse__Output>
  ListCredits: MethodDefinition<_tollgate_ledger_v1_ListCreditsRequest, _tollgate_ledger_v1_ListCreditsResponse, _tollgate_ledger_v1_ListCreditsRequest__Output, _tollgate_ledger_v1_ListCreditsResponse__Output>
  ListFullLimits: MethodDefinition<_tollgate_ledger_v1_ListFullLimitsRequest, _tollgate_ledger_v1_ListFullLimitsResponse, _tollgate_ledger_v1_ListFullLimitsRequest__Output, _tollgate_ledger_v1_ListFullLimitsResponse__Output>
  ListHolds: MethodDefinition<_tollgate_ledger_v1_ListHoldsRequest, _tollgate_ledger_v1_ListHoldsResponse, _tollgate_ledger_v1_ListHoldsRequest__Output, _tollgate_ledger_v1_ListHoldsResponse__Output>
  ListRunningHolds: MethodDefinition<_tollgate_ledger_v1_ListRunningHoldsRequest, _tollgate_ledger_v1_ListRunningHoldsResponse, _tollgate_ledger_v1_ListRunningHoldsRequest__Output, _tollgate_ledger_v1_ListRunningHoldsResponse__Output>
  ListSpendLimits: MethodDefinition<_tollgate_ledger_v1_ListSpendLimitsRequest, _tollgate_ledger_v1_ListSpendLimitsResponse, _tollgate_ledger_v1_ListSpendLimitsRequest__Output, _tollgate_ledger_v1_ListSpendLimitsResponse__Output>
  ListTransfers: MethodDefinition<_tollgate_ledger_v1_ListTransfersRequest, _tollgate_ledger_v1_ListTransfersResponse, _tollgate_ledger_v1_ListTransfersRequest__Output, _tollgate_ledger_v1_ListTransfersResponse__Output>
  ListWallets: MethodDefinition<_tollgate_ledger_v1_ListWalletsRequest, _tollgate_ledger_v1_ListWalletsResponse, _tollgate_ledger_v1_ListWalletsRequest__Output, _tollgate_ledger_v1_ListWalletsResponse__Output>
  Ping: MethodDefinition<_tollgate_ledger_v1_PingRequest, _tollgate_ledger_v1_PingResponse, _tollgate_ledger_v1_PingRequest__Output, _tollgate_ledger_v1_PingResponse__Output>
  QueryUsage: MethodDefinition<_tollgate_ledger_v1_QueryUsageRequest, _tollgate_ledger_v1_QueryUsageResponse, _tollgate_ledger_v1_QueryUsageRequest__Output, _tollgate_ledger_v1_QueryUsageResponse__Output>
  ReleaseHold: MethodDefinition<_tollgate_ledger_v1_ReleaseHoldRequest, _tollgate_ledger_v1_ReleaseHoldResponse, _tollgate_ledger_v1_ReleaseHoldRequest__Output, _tollgate_ledger_v1_ReleaseHoldResponse__Output>
  SetSpendLimit: MethodDefinition<_tollgate_ledger_v1_SetSpendLimitRequest, _tollgate_ledger_v1_SetSpendLimitResponse, _tollgate_ledger_v1_SetSpendLimitRequest__Output, _tollgate_ledger_v1_SetSpendLimitResponse__Output>
  SetWalletState: MethodDefinition<_tollgate_ledger_v1_SetWalletStateRequest, _tollgate_ledger_v1_SetWalletStateResponse, _tollgate_ledger_v1_SetWalletStateRequest__Output, _tollgate_ledger_v1_SetWalletStateResponse__Output>
  SettleHold: MethodDefinition<_tollgate_ledger_v1_SettleHoldRequest, _tollgate_ledger_v1_SettleHoldResponse, _tollgate_ledger_v1_SettleHoldRequest__Output, _tollgate_ledger_v1_SettleHoldResponse__Output>
  StreamMutations: MethodDefinition<_tollgate_ledger_v1_StreamMutationsRequest, _tollgate_ledger_v1_StreamMutationsResponse, _tollgate_ledger_v1_StreamMutationsRequest__Output, _tollgate_ledger_v1_StreamMutationsResponse__Output>
  SumCredits: MethodDefinition<_tollgate_ledger_v1_SumCreditsRequest, _tollgate_ledger_v1_SumCreditsResponse, _tollgate_ledger_v1_SumCreditsRequest__Output, _tollgate_ledger_v1_SumCreditsResponse__Output>
  SumRunningHolds: MethodDefinition<_tollgate_ledger_v1_SumRunningHoldsRequest, _tollgate_ledger_v1_SumRunningHoldsResponse, _tollgate_ledger_v1_SumRunningHoldsRequest__Output, _tollgate_ledger_v1_SumRunningHoldsResponse__Output>
  SumTransfers: MethodDefinition<_tollgate_ledger_v1_SumTransfersRequest, _tollgate_ledger_v1_SumTransfersResponse, _tollgate_ledger_v1_SumTransfersRequest__Output, _tollgate_ledger_v1_SumTransfersResponse__Output>
  SumTransfersByScope: MethodDefinition<_tollgate_ledger_v1_SumTransfersByScopeRequest, _tollgate_ledger_v1_SumTransfersByScopeResponse, _tollgate_ledger_v1_SumTransfersByScopeRequest__Output, _tollgate_ledger_v1_SumTransfersByScopeResponse__Output>
}
